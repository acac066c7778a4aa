import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Boundary, ExecOptions } from '../../src/core/ports.ts';
import { exec } from '../../src/workspace/exec.ts';
import { listFromPs, listProcesses } from '../../src/workspace/process-list.ts';
import { PLAIN } from '../helpers/boundary.ts';
import { processesWith, uniqueSeconds } from '../helpers/processes.ts';
import { tempTree } from '../helpers/temp.ts';

const run = (argv: string[], options: Partial<ExecOptions> = {}) =>
  exec(argv, { cwd: '/', boundary: PLAIN, timeout_ms: 20_000, max_output_bytes: 30_000, ...options });
const bash = (script: string, options: Partial<ExecOptions> = {}) => run(['bash', '-c', script], options);

const DOUBLE_FORK = (seconds: string): string =>
  `python3 -c "
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: os.execvp('sleep', ['sleep', '${seconds}'])
    os._exit(0)
os.wait()"`;

describe('after a normal exit', () => {
  test.each([
    ['B085, process-02: a background child that holds the output', (s: string) => `sleep ${s} & echo done`],
    ['process-01: a daemon in its own session', (s: string) => `(setsid sleep ${s} >/dev/null 2>&1 &); echo done`],
    ['a daemon that holds the output', (s: string) => `setsid sleep ${s} & disown; echo done`],
    ['a double fork', (s: string) => `${DOUBLE_FORK(s)}; echo done`],
    ['a child without environment', (s: string) => `env -i sleep ${s} & echo done`],
    ['a child that ignores signals', (s: string) => `(trap "" TERM HUP; sleep ${s}; sleep ${s}) & echo done`],
    ['B095: a job that kill %1 misses', (s: string) => `sleep ${s} & kill %1 2>/dev/null; sleep ${s} & echo done`],
    ['a stopped child', (s: string) => `sleep ${s} & kill -STOP $!; echo done`],
  ])('%s is ended within a second', async (_name, script) => {
    const seconds = uniqueSeconds();
    const result = await bash(script(seconds));
    expect(result).toMatchObject({ exit_code: 0, ended_by: 'exit', output: 'done\n' });
    expect(result.duration_ms).toBeLessThan(1800);
    expect(processesWith(seconds)).toEqual([]);
  });
});

describe('at the timeout', () => {
  test('B087: busy children in group and session of their own end with the shell', async () => {
    const seconds = uniqueSeconds();
    const script = `sleep ${seconds} & setsid sleep ${seconds} & (while :; do :; done) & ${DOUBLE_FORK(seconds)}; wait`;
    const result = await bash(script, { timeout_ms: 600 });
    expect(result).toMatchObject({ exit_code: null, ended_by: 'timeout' });
    expect(result.duration_ms).toBeLessThan(2000);
    expect(processesWith(seconds)).toEqual([]);
  });

  test('a child that dropped its environment and left the session is found by its parents', async () => {
    const seconds = uniqueSeconds();
    await bash(`env -i setsid sleep ${seconds} & wait`, { timeout_ms: 300 });
    expect(processesWith(seconds)).toEqual([]);
  });

  test('B097: an EXIT trap runs, and its output is kept', async () => {
    const result = await bash("trap 'echo cleaned' EXIT; trap 'exit 1' TERM; echo start; sleep 300 & wait", {
      timeout_ms: 300,
    });
    expect(result).toMatchObject({ ended_by: 'timeout', exit_code: null, output: 'start\ncleaned\n' });
    expect(result.duration_ms).toBeLessThan(1500);
  });

  test('process-04: what ignores TERM is killed after two seconds', async () => {
    const seconds = uniqueSeconds();
    const result = await bash(`trap '' TERM INT HUP; echo on; sleep ${seconds}; sleep ${seconds}`, {
      timeout_ms: 300,
    });
    expect(result).toMatchObject({ ended_by: 'timeout', output: 'on\n' });
    expect(result.duration_ms).toBeGreaterThan(2200);
    expect(result.duration_ms).toBeLessThan(4000);
    expect(processesWith(seconds)).toEqual([]);
  });

  test('a sandbox around the processes is spared by TERM, so that their traps run', async () => {
    // unshare stands for a sandbox: it ends its children at once when it is asked to end.
    const boundary: Boundary = {
      ...PLAIN,
      wrap: (argv, cwd) => ({
        ...PLAIN.wrap([], cwd),
        holder: 'unshare',
        argv: ['unshare', '--pid', '--fork', '--kill-child', ...argv],
      }),
    };
    if (spawnSync('unshare', ['--pid', '--fork', 'true']).status !== 0) return;
    const script = "trap 'sleep 0.2; echo cleaned; exit' TERM; echo on; while :; do sleep 0.05; done";
    const result = await bash(script, { timeout_ms: 500, boundary });
    expect(result.ended_by).toBe('timeout');
    expect(result.output).toContain('cleaned'); // besides bash's own word about its sleep
  });
});

const BWRAP = [
  'bwrap',
  '--unshare-pid',
  '--die-with-parent',
  '--ro-bind',
  '/',
  '/',
  '--proc',
  '/proc',
  '--dev',
  '/dev',
];
const hasBwrap = spawnSync('bwrap', [...BWRAP.slice(1), 'true']).status === 0;

describe.skipIf(!hasBwrap)('at the timeout in a sandbox that dies with its first process (needs bubblewrap)', () => {
  const boundary: Boundary = {
    ...PLAIN,
    wrap: (argv, cwd) => ({ ...PLAIN.wrap([], cwd), holder: 'bwrap', argv: [...BWRAP, '--', ...argv] }),
  };
  const cleaning = `sh -c "trap 'sleep 0.2; echo cleaned' EXIT; trap 'exit 1' TERM; sleep 300"`;

  test('B097: the first one is ended last, so that traps of the others run', async () => {
    for (let round = 0; round < 3; round += 1) {
      const result = await bash(`${cleaning}; echo never`, { timeout_ms: 300, boundary });
      expect(result).toMatchObject({ ended_by: 'timeout', output: expect.stringContaining('cleaned') as string });
      expect(result.output).not.toContain('never');
    }
  });

  test('what ignores TERM does not keep the first one from cleaning up', async () => {
    const seconds = uniqueSeconds();
    const script = `trap 'echo cleaned' EXIT; trap 'exit 1' TERM; (trap '' TERM; exec sleep ${seconds}) & wait`;
    const result = await bash(script, { timeout_ms: 300, boundary });
    expect(result.output).toContain('cleaned');
    expect(result.duration_ms).toBeLessThan(2800);
    expect(processesWith(seconds)).toEqual([]);
  });
});

describe('on cancel', () => {
  test('the grace is half a second', async () => {
    const seconds = uniqueSeconds();
    const abort = new AbortController();
    const sink = (): void => abort.abort();
    const result = await bash(`trap '' TERM; echo on; sleep ${seconds}; sleep ${seconds}`, {
      signal: abort.signal,
      sink,
    });
    expect(result).toMatchObject({ ended_by: 'cancel', exit_code: null, output: 'on\n' });
    expect(result.duration_ms).toBeLessThan(2000);
    expect(processesWith(seconds)).toEqual([]);
  });

  test('nothing starts when it is already cancelled', async () => {
    expect(await run(['true'], { signal: AbortSignal.abort() })).toMatchObject({ ended_by: 'cancel', bytes: 0 });
  });

  test('B109: a runner that exits at once leaves no process behind', async () => {
    const seconds = uniqueSeconds();
    const root = join(import.meta.dirname, '../..');
    const folder = tempTree({
      'main.ts': `import { exec } from '${root}/src/workspace/exec.ts';
        import { PLAIN } from '${root}/test/helpers/boundary.ts';
        void exec(['bash', '-c', 'trap "" TERM; setsid sleep ${seconds} & echo on; sleep ${seconds}'], {
          cwd: '/', boundary: PLAIN, timeout_ms: 60000, max_output_bytes: 1000,
          sink: () => setTimeout(() => process.exit(7), 100) });`,
    });
    const bundle = join(folder, 'main.mjs');
    const esbuild = ['--bundle', '--platform=node', '--format=esm', `--outfile=${bundle}`, '--log-level=error'];
    const banner = `--banner:js=import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);`;
    spawnSync(join(root, 'node_modules/.bin/esbuild'), [join(folder, 'main.ts'), ...esbuild, banner]);
    const child = spawn(process.execPath, [bundle]);
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(code).toBe(7);
    expect(processesWith(seconds)).toEqual([]);
  });
});

test('ps tells the same as /proc where there is no /proc', () => {
  const own = readFileSync('/proc/self/stat', 'utf8').split(' ');
  const find = (entries: ReturnType<typeof listProcesses>) => entries.find(({ pid }) => pid === process.pid);
  expect(find(listFromPs())).toMatchObject({ parent: Number(own[3]), group: Number(own[4]) });
  expect(find(listProcesses())).toMatchObject({ parent: Number(own[3]), group: Number(own[4]) });
});
