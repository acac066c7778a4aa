import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/journal/redact.ts';
import { exec } from '../../src/workspace/exec.ts';
import { PLAIN } from '../helpers/boundary.ts';
import { processesWith, uniqueSeconds } from '../helpers/processes.ts';
import type { Boundary, ExecOptions } from '../../src/core/ports.ts';

/** A boundary that counts its releases, and what was still alive then. */
function counting(mark = '') {
  const seen: { released: number; alive: string[] } = { released: 0, alive: [] };
  const boundary: Boundary = {
    ...PLAIN,
    wrap: (argv, cwd) => ({
      ...PLAIN.wrap(argv, cwd),
      release() {
        seen.released += 1;
        if (mark) seen.alive.push(...processesWith(mark));
      },
    }),
  };
  return { boundary, seen };
}

const run = (argv: string[], options: Partial<ExecOptions> = {}) =>
  exec(argv, { cwd: '/', boundary: PLAIN, timeout_ms: 20_000, max_output_bytes: 1000, ...options });

describe('the boundary of a command', () => {
  test('is told once that everything it held is gone', async () => {
    const mark = `sleep ${uniqueSeconds()}`;
    const { boundary, seen } = counting(mark);
    await run(['sh', '-c', `(setsid ${mark} &) ; echo started`], { boundary });
    await run(['sh', '-c', mark], { boundary, timeout_ms: 200 });
    expect(seen).toEqual({ released: 2, alive: [] });
  });

  test('is told so, too, when nothing could start or the sink failed', async () => {
    const { boundary, seen } = counting();
    await run(['no-such-program'], { boundary });
    await run([], { boundary });
    const sink = (): void => {
      throw new Error('disk full');
    };
    await expect(run(['echo', 'x'], { boundary, sink })).rejects.toThrow('cannot be stored');
    expect(seen.released).toBe(3);
  });
});

describe('the filter of a command', () => {
  const secret = 'sk-canary-0123456789abcdef';
  const filter = () => createRedactor({ env: { CORP_TOKEN: secret }, extra_names: [] }).stream();
  const halves = `printf %s '${secret.slice(0, 12)}'; sleep 0.1; printf %s '${secret.slice(12)}'`;

  test('sees the output before it is cut or handed on', async () => {
    const chunks: string[] = [];
    const sink = (chunk: Uint8Array): void => void chunks.push(Buffer.from(chunk).toString());
    const result = await run(['sh', '-c', halves], { filter: filter(), sink });
    expect(result.output).not.toContain(secret.slice(0, 12));
    expect(result.output).toMatch(/redacted/i);
    expect(chunks.join('')).toBe(result.output);
  });

  test('keeps a secret whole that lies across the cut', async () => {
    const script = `head -c 490 /dev/zero | tr '\\0' x; ${halves}; head -c 2000 /dev/zero | tr '\\0' y`;
    const result = await run(['sh', '-c', script], { filter: filter() });
    expect(result.omitted_bytes).toBeGreaterThan(0);
    expect(result.output).not.toContain('sk-canary');
  });

  test('does not hold back what ended without a line break', async () => {
    expect((await run(['printf', 'done'], { filter: filter() })).output).toBe('done');
  });
});
