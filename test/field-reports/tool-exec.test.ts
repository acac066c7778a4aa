import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { png } from '../helpers/media.ts';
import { uniqueSeconds, processesWith } from '../helpers/processes.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { play } from './harness.ts';
import { lastText, resultsOf } from './requests.ts';
import type { Reply } from '../helpers/messages-server/types.ts';
import type { FieldRun } from './harness.ts';

interface Scripted {
  /** Body of ./run.sh, which an exact rule allows. */
  script: string;
  timeout?: string;
  bash?: Record<string, unknown>;
}

/** One call of a committed script, then an answer. */
function call({ script, timeout = '20s', bash = {} }: Scripted): Promise<FieldRun> {
  return play({
    task: { tools: { bash: { allow: ['./run.sh'], timeout, ...bash }, read_file: {} } },
    replies: [reply.tool('bash', { command: './run.sh' }), 'done'],
    prepare: ({ workspace }) => {
      writeFileSync(join(workspace, 'run.sh'), `#!/bin/sh\n${script}\n`);
      chmodSync(join(workspace, 'run.sh'), 0o755);
    },
  });
}

const toolMs = ({ events }: FieldRun): number =>
  events.find((event) => event.type === 'tool_end')?.duration_ms ?? Infinity;

describe('a call', () => {
  test('B085: ends with its shell, though a background process holds its output', async () => {
    const seconds = uniqueSeconds();
    const run = await call({ script: `sleep ${seconds} & echo done` });
    expect(resultsOf(run.turns[1])).toMatchObject([
      { is_error: false, text: expect.stringContaining('done') as string },
    ]);
    expect(toolMs(run)).toBeLessThan(2000);
    expect(processesWith(`sleep ${seconds}`)).toEqual([]);
  });

  test('B087: that is timed out takes its whole tree with it, children in sessions of their own included', async () => {
    const loop = 'while :; do :; done';
    const mark = uniqueSeconds();
    const run = await call({
      script: `sh -c '${loop} # ${mark}' & sh -c '${loop} # ${mark}' & setsid sh -c '${loop} # ${mark}' & wait`,
      timeout: '1s',
    });
    expect(resultsOf(run.turns[1])).toMatchObject([
      { is_error: true, text: expect.stringContaining('timed out') as string },
    ]);
    expect(run.result.tool_calls.timed_out).toBe(1);
    expect(processesWith(mark)).toEqual([]);
  });

  test('B089: over the output cap keeps head, tail, the number left out and its exit code', async () => {
    const run = await call({ script: 'echo first; head -c 20000000 /dev/zero | tr "\\0" x; echo; echo last; exit 3' });
    const [result] = resultsOf(run.turns[1]);
    expect(result?.text).toMatch(/^first\n/);
    expect(result?.text).toContain('\nlast\n');
    expect(result?.text).toMatch(/\[… 199\d{5} bytes left out/);
    expect(result?.text).toContain('[exit code 3]');
    expect(result?.text).toMatch(/read_file run:outputs\/0001-/);
    expect(Buffer.byteLength(result?.text ?? '')).toBeLessThan(40_000);
  });

  test('B091: leaves nothing in memory beyond what the model is shown', { timeout: 60_000 }, async () => {
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    const calls = Array.from({ length: 10 }, () => ({ name: 'bash', input: { command: 'head -c 1000000 big.txt' } }));
    const held: number[] = [];
    const turn = async (): Promise<Reply> => {
      for (let round = 0; round < 3; round += 1) {
        if (typeof collect === 'function') collect();
        await sleep(20); // memory outside the heap is given back a moment later
      }
      const { arrayBuffers, heapUsed } = process.memoryUsage();
      held.push(arrayBuffers + heapUsed);
      return reply.tools(calls);
    };
    const run = await play({
      task: { tools: { bash: { allow: ['head *'], max_output: '1KiB' } } },
      files: { 'big.txt': 'x'.repeat(1_000_000) },
      replies: [turn, turn, turn, turn, 'done'],
    });
    expect(run.result.tool_calls.total).toBe(40);
    // Between the second and the last look ten megabytes were read twice.
    expect((held[3] ?? Infinity) - (held[1] ?? 0)).toBeLessThan(5_000_000);
  });

  test('B093: has no standard input to wait for', async () => {
    const run = await call({ script: 'cat; read x || echo "no input"; wc -c' });
    expect(lastText(run.turns[1])).toContain('no input\n0');
    expect(toolMs(run)).toBeLessThan(5000);
  });

  test('B095: leaves nothing behind that it started', async () => {
    const seconds = uniqueSeconds();
    const run = await call({
      script: `sleep ${seconds} & kill %1; nohup setsid sleep ${seconds} >/dev/null 2>&1 & exit 0`,
    });
    expect(processesWith(`sleep ${seconds}`)).toEqual([]);
    expect(run.code).toBe(0);
  });

  test('B097: that is timed out can still clean up, and what it says then is kept', async () => {
    const run = await call({
      script: "trap 'echo cleaned' EXIT; trap 'exit 1' TERM; echo begun; sleep 300",
      timeout: '1s',
    });
    expect(lastText(run.turns[1])).toMatch(/begun[^]*cleaned[^]*timed out/);
  });

  test('B097: in the sandbox the processes inside get the signal too', async ({ skip }) => {
    const run = await play({
      task: {
        sandbox: { mode: 'auto', env: ['FIELD_RUN'] },
        tools: { bash: { allow: ['./run.sh'], timeout: '1s' } },
      },
      replies: [reply.tool('bash', { command: './run.sh' }), 'done'],
      prepare: ({ workspace }) => {
        writeFileSync(
          join(workspace, 'run.sh'),
          "#!/bin/sh\ntrap 'echo cleaned' EXIT; trap 'exit 1' TERM; sleep 300\n",
        );
        chmodSync(join(workspace, 'run.sh'), 0o755);
      },
    });
    skip(run.result.runner.sandbox.active === 'none', 'needs bubblewrap');
    expect(lastText(run.turns[1])).toContain('cleaned');
  });
});

describe('files as content', () => {
  test('B099: an image over a limit of the service is a tool error that names it, and later requests are as they must be', async () => {
    const many = Array.from({ length: 20 }, (_, index) => `small-${index}.txt`);
    const read = (path: string) => ({ name: 'read_file', input: { path } });
    const run = await play({
      task: { tools: { read_file: {} } },
      files: {
        'wide.png': png(9000, 10),
        'broken.png': Buffer.from('89504e470d0a1a0a0000000d49484452000023280000000a0806000000', 'hex'),
        'shot.txt': png(2162, 322),
        ...Object.fromEntries(many.map((name) => [name, png(20, 20)])),
      },
      replies: [
        reply.tools([read('wide.png'), read('broken.png'), ...many.map(read)]),
        reply.tools([read('shot.txt')]),
        'done',
      ],
    });
    expect(run.code).toBe(0);
    const [wide, broken, ...small] = resultsOf(run.turns[1]);
    expect(wide).toMatchObject({ is_error: true, text: expect.stringContaining('at most 8000') as string });
    expect(broken).toMatchObject({ is_error: true, text: expect.stringContaining('damaged') as string });
    expect(small).toHaveLength(20);
    expect(JSON.stringify(run.turns[1]?.body).match(/"type":"image"/g)).toHaveLength(20);
    expect(resultsOf(run.turns[2])).toMatchObject([
      { is_error: true, text: expect.stringContaining('more than 2000 pixels, and this one is larger') as string },
    ]);
  });
});
