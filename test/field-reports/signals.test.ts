import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { uniqueSeconds } from '../helpers/processes.ts';
import { begin, beginIn } from './harness.ts';
import { placeOf } from './place.ts';
import type { Case, Place } from './place.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 30_000 });
const cli = useCli();

const bash = { bash: { allow: ['./run.sh'] } };
const callScript = reply.tool('bash', { command: './run.sh' });

function script(body: string): (place: Place) => void {
  return ({ workspace }) => {
    writeFileSync(join(workspace, 'run.sh'), `#!/bin/sh\n${body}\n`);
    chmodSync(join(workspace, 'run.sh'), 0o755);
  };
}

describe('a signal', () => {
  const WHERE: [where: string, given: () => Case, begun: string][] = [
    ['a tool call', () => ({ task: { tools: bash }, replies: [callScript], prepare: script(`touch begun; sleep ${uniqueSeconds()} & sleep ${uniqueSeconds()}`) }), 'begun'],
    ['a context command', () => ({ task: { context: [{ command: ['./run.sh'] }] }, prepare: script(`touch begun; sleep ${uniqueSeconds()}`) }), 'begun'],
    ['a verify command', () => ({ task: { verify: [{ run: ['./run.sh'] }] }, replies: ['done'], prepare: script(`touch begun; sleep ${uniqueSeconds()}`) }), 'begun'],
    ['a stream', () => ({ replies: [reply.stall({ after: 'delta' })] }), 'turn_start'],
    ['a wait between attempts', () => ({ replies: [reply.error(529, 'overloaded_error', { headers: { 'retry-after': '60' } })] }), '"attempt"'],
  ]; // prettier-ignore
  const SIGNALS = [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]] as const; // prettier-ignore

  test.each(WHERE.map((row, index) => [...row, ...(SIGNALS[index % 3] ?? SIGNALS[0])] as const))(
    'B109: during %s ends everything within seconds, with artifacts and the code of the signal',
    async (...[, given, begun, signal, code]) => {
      const running = await begin(cli.path(), { ...given(), flags: ['--format', 'stream-json'] });
      const { text, place } = running;
      const hasBegun = (): boolean => text.stdout.includes(begun) || existsSync(join(place.workspace, begun));
      await vi.waitFor(() => expect(hasBegun()).toBe(true), { timeout: 20_000 });
      const sent_at = Date.now();
      running.child.kill(signal);
      const run = await running.done;
      expect(run.code).toBe(code);
      expect(run.ended_at - sent_at).toBeLessThan(5000);
      expect(run.result).toMatchObject({ status: 'cancelled', exit_reason: 'cancelled' });
      expect(run.artifact('usage.json')).toBeDefined();
    },
  );

  test('B109: before the run began is not lost: it has a result like any other', async () => {
    // The program is still loading when a module that was put in front of it sends the signal.
    const send = 'setTimeout(() => process.kill(process.pid, "SIGTERM"), 0)';
    const early = `const on=process.on;process.on=function(n,...r){const x=on.call(this,n,...r);if(n==="SIGTERM"){process.on=on;${send}}return x}`;
    const running = await begin(cli.path(), {
      replies: [],
      env: { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(early).toString('base64')}` },
    });
    const run = await running.done;
    expect(run.code).toBe(143);
    expect(run.result).toMatchObject({ exit_reason: 'cancelled', turns: 0 });
    expect(run.turns).toEqual([]);
  });

  test('B109: a second one ends at once, with the result and the code of the first, and nothing left alive', async () => {
    const place = await placeOf({
      task: { tools: bash },
      replies: [callScript],
      prepare: script("trap '' TERM; echo on; while :; do sleep 0.1; done"),
      flags: ['--format', 'stream-json'],
    });
    const running = beginIn(cli.path(), place);
    const { child, done } = running;
    done.catch(() => {}); // it has no time for a summary
    await running.said('tool_start');
    child.kill('SIGINT');
    const sent_at = Date.now();
    setTimeout(() => child.kill('SIGTERM'), 50);
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code).toBe(130);
    expect(Date.now() - sent_at).toBeLessThan(1500);
    const result: unknown = JSON.parse(readFileSync(join(place.run_dir, 'result.json'), 'utf8'));
    expect(result).toMatchObject({ exit_code: 130, exit_reason: 'cancelled', status: 'cancelled' });
    const last = readFileSync(join(place.run_dir, 'transcript.jsonl'), 'utf8').trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({ type: 'run_end', exit_code: 130 });
  });
});
