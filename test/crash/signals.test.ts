import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { beginIn } from '../field-reports/harness.ts';
import { placeOf } from '../field-reports/place.ts';
import { useCli } from '../helpers/cli.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { uniqueSeconds } from '../helpers/processes.ts';
import { tempFolder } from '../helpers/temp.ts';
import { OUTPUT } from './kill-check.ts';
import { counts, eventsOf, RESUME_ARGV, RUN_ARGV, start, writeKillRun } from './kill-run.ts';
import type { Running } from '../field-reports/harness.ts';
import type { Case, Place } from '../field-reports/place.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });
const cli = useCli();

const SIGNALS = [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]] as const; // prettier-ignore
const SCHEMA = { type: 'object', required: ['a'] };
const stall = reply.stall({ after: 'delta' });

function sleeping(): Case {
  const command = `sleep ${uniqueSeconds()}`;
  return { task: { tools: { bash: { allow: ['sleep *'] } } }, replies: [reply.tool('bash', { command })] };
}

/** Where a run is when it is to end, and how to see on stdout that it is there. */
const MOMENTS: [moment: string, given: () => Case, begun: RegExp][] = [
  ['before the first byte of a reply', () => ({ replies: [reply.stall({ after: 'request' })] }), /turn_start/],
  ['in the middle of a reply', () => ({ replies: [stall] }), /turn_start/],
  ['in a call', sleeping, /tool_start/],
  ['between attempts', () => ({ replies: () => reply.error(529, 'overloaded_error') }), /"attempt"/],
  ['in the repair of an output', () => ({ task: { output: { schema: SCHEMA } }, replies: [reply.text('{}'), stall] }), /turn_start[^]*turn_start/],
  ['in a verify command', () => ({ task: { verify: [{ run: ['sleep', uniqueSeconds()] }] }, replies: ['done'] }), /output_checked/],
]; // prettier-ignore

async function at(given: Case, begun: RegExp): Promise<Running> {
  const place = await placeOf({ ...given, flags: ['--format', 'stream-json'] });
  const running = beginIn(cli.path(), place);
  await vi.waitFor(() => expect(running.text.stdout).toMatch(begun), { timeout: 20_000, interval: 20 });
  return running;
}

describe.each(MOMENTS)('a signal %s', (_moment, given, begun) => {
  test.each(SIGNALS)('%s ends the run within 2 s with all its files and code %i', async (signal, code) => {
    const running = await at(given(), begun);
    const sent_at = Date.now();
    running.child.kill(signal);
    const run = await running.done;
    expect(run.ended_at - sent_at).toBeLessThan(2000);
    expect(run.code).toBe(code);
    expect(run.result).toMatchObject({ status: 'cancelled', exit_reason: 'cancelled', exit_code: code });
    for (const name of ['usage.json', 'summary.md']) expect(run.artifact(name), name).toBeDefined();
    expect(run.events.at(-1)).toMatchObject({ type: 'run_end', outcome: { reason: 'cancelled', signal } });
    expect(await replay(run)).toMatchObject({ matches: true, divergence: null });
  });
});

describe.each(MOMENTS)('a deadline %s', (_moment, given) => {
  test('ends the run within 2 s of it with all its files and code 4', async () => {
    const story = given();
    const limits = { timeout: '1500ms', on_limit: 'stop' };
    const running = await at({ ...story, task: { ...story.task, limits } }, /run_start/);
    const begun_at = Date.now();
    const run = await running.done;
    expect(run.ended_at - begun_at).toBeLessThan(1500 + 2000);
    expect(run.code).toBe(4);
    expect(run.result).toMatchObject({ status: 'failure', exit_reason: 'timeout', limit_reached: { limit: 1500 } });
    expect(await replay(run)).toMatchObject({ matches: true, divergence: null });
  });
});

describe('a signal', () => {
  test('while a reader is slow to take the result ends the process soon, with one code everywhere', async () => {
    const place = await placeOf({ replies: [reply.text('x'.repeat(3_000_000))] });
    const running = beginIn(cli.path(), place);
    running.done.catch(() => {}); // the reader of stdout got less than the output
    running.child.stdout.pause();
    const result = join(place.run_dir, 'result.json');
    await vi.waitFor(() => expect(existsSync(result)).toBe(true), { timeout: 20_000, interval: 10 });
    const sent_at = Date.now();
    running.child.kill('SIGTERM');
    const [code] = (await once(running.child, 'exit')) as [number | null];
    expect(Date.now() - sent_at).toBeLessThan(2000);
    expect(code).toBe(143);
    expect(JSON.parse(readFileSync(result, 'utf8'))).toMatchObject({
      exit_code: 143,
      exit_reason: 'cancelled',
      status: 'cancelled',
    });
  });

  test('that comes second ends the process at once, with the code of the first', async () => {
    const stubborn = {
      task: { tools: { bash: { allow: ['./run.sh'] } } },
      replies: [reply.tool('bash', { command: './run.sh' })],
      prepare: ({ workspace }: Place) =>
        writeFileSync(join(workspace, 'run.sh'), "#!/bin/sh\ntrap '' TERM; while :; do sleep 0.1; done\n", {
          mode: 0o755,
        }),
    };
    const running = await at(stubborn, /tool_start/);
    running.done.catch(() => {}); // it has no time for a summary
    running.child.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 100));
    const sent_at = Date.now();
    running.child.kill('SIGINT');
    const [code] = (await once(running.child, 'exit')) as [number | null];
    expect(Date.now() - sent_at).toBeLessThan(400);
    expect(code).toBe(143);
  });

  test('that comes while a deadline ends the run does not take its files away', async () => {
    const story = sleeping();
    const limits = { timeout: '1s', on_limit: 'stop' };
    const running = await at({ ...story, task: { ...story.task, limits } }, /tool_start/);
    await running.said('"cancelled"').catch(() => {});
    running.child.kill('SIGTERM');
    const run = await running.done;
    expect([4, 143]).toContain(run.code);
    expect(run.artifact('usage.json')).toBeDefined();
  });

  test('at a random moment leaves a run that goes on to the same output, no effect twice', async () => {
    const whole = await start(cli.path(), writeKillRun(tempFolder()), RUN_ARGV);
    expect(whole.code).toBe(0);
    for (let point = 0; point < 6; point += 1) {
      const [signal, expected] = SIGNALS[point % 3] ?? SIGNALS[0];
      const run = writeKillRun(tempFolder());
      const delay = whole.ms * (0.3 + (0.7 * (point + Math.random())) / 6);
      const ended = await start(cli.path(), run, RUN_ARGV, (_kill, child) =>
        setTimeout(() => child.kill(signal), delay),
      );
      const events = eventsOf(run);
      if (events.length === 0) continue;
      expect([0, expected]).toContain(ended.code);
      const result = JSON.parse(readFileSync(join(run.run_dir, 'result.json'), 'utf8')) as { exit_code: number };
      expect(result.exit_code).toBe(ended.code);
      if (events[0]?.type !== 'run_start') continue;
      expect(await replay(run)).toMatchObject({ matches: true });
      expect(await start(cli.path(), run, RESUME_ARGV)).toMatchObject({ code: 0, stdout: OUTPUT });
      expect(Math.max(...counts(run).values())).toBe(1);
    }
  });
});
