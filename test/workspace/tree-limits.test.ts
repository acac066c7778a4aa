import { describe, expect, test } from 'vitest';
import { exec } from '../../src/workspace/exec.ts';
import { defaultLimits } from '../../src/workspace/tree-limits.ts';
import { PLAIN } from '../helpers/boundary.ts';
import { processesWith, uniqueSeconds } from '../helpers/processes.ts';
import type { ExecOptions } from '../../src/core/ports.ts';

const limits = { processes: 20, memory_bytes: 200 * 2 ** 20 };
const run = (argv: string[], options: Partial<ExecOptions> = {}) =>
  exec(argv, { cwd: '/', boundary: PLAIN, timeout_ms: 20_000, max_output_bytes: 1000, limits, ...options });

describe('the limits of what a command starts', () => {
  test('end it and all the rest when there are too many processes, and keep its output', async () => {
    const mark = `sleep ${uniqueSeconds()}`;
    const began = performance.now();
    const result = await run(['sh', '-c', `echo first; for i in $(seq 60); do ${mark} & done; wait`]);
    expect(result).toMatchObject({ ended_by: 'limit', exit_code: null, detail: 'more than 20 processes at once' });
    expect(result.output).toBe('first\n');
    expect(processesWith(mark)).toEqual([]);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test('count processes that left group and session', async () => {
    const mark = `sleep ${uniqueSeconds()}`;
    const result = await run(['sh', '-c', `for i in $(seq 60); do setsid ${mark} & done; wait`]);
    expect(result.ended_by).toBe('limit');
    expect(processesWith(mark)).toEqual([]);
  });

  test('end it when it takes too much memory', async () => {
    const grow = 'const all = []; setInterval(() => all.push(Buffer.alloc(20e6, 1)), 10)';
    const result = await run([process.execPath, '-e', grow]);
    expect(result).toMatchObject({ ended_by: 'limit', detail: 'more than 200 MiB of memory' });
  });

  test('leave alone what stays below them', async () => {
    const result = await run(['sh', '-c', 'for i in 1 2 3; do sleep 0.2 & done; wait; echo ok']);
    expect(result).toMatchObject({ ended_by: 'exit', exit_code: 0, output: 'ok\n' });
  });

  test('leave the runner a quarter of the memory', () => {
    expect(defaultLimits().processes).toBe(1000);
    expect(defaultLimits().memory_bytes).toBeGreaterThan(100 * 2 ** 20);
  });
});
