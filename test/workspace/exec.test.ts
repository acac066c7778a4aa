import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { ExecOptions } from '../../src/core/ports.ts';
import { exec } from '../../src/workspace/exec.ts';
import { PLAIN } from '../helpers/boundary.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';

const run = (argv: string[], options: Partial<ExecOptions> = {}) =>
  exec(argv, { cwd: '/', boundary: PLAIN, timeout_ms: 20_000, max_output_bytes: 30_000, ...options });
const sh = (script: string, options: Partial<ExecOptions> = {}) => run(['sh', '-c', script], options);

describe('a command', () => {
  test('gives its exit code and both streams in order of arrival', async () => {
    const result = await sh('echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three; exit 3');
    expect(result).toMatchObject({ exit_code: 3, ended_by: 'exit', output: 'one\ntwo\nthree\n', bytes: 14 });
    expect(result.omitted_bytes).toBe(0);
    expect(result.duration_ms).toBeGreaterThanOrEqual(200);
  });

  test('gets no shell, only the variables of its boundary, and the folder it was given', async () => {
    const cwd = tempFolder();
    expect((await run(['echo', '$HOME', '*', '; ls'])).output).toBe('$HOME * ; ls\n');
    expect((await run(['pwd'], { cwd })).output.trim()).toBe(cwd);
    const names = (await run(['env'])).output
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0] ?? '');
    expect(names.filter((name) => !name.startsWith('AGENT_RUN_CALL_'))).toEqual(['PATH']);
  });

  test('B093, process-03: sees the end of its input at once', async () => {
    expect(await run(['cat'], { timeout_ms: 2000 })).toMatchObject({ exit_code: 0, output: '' });
    expect(await sh('read x; echo "got $?"')).toMatchObject({ output: 'got 1\n' });
  });

  test('gets a text as its input', async () => {
    expect((await run(['cat'], { stdin: 'grüße\n' })).output).toBe('grüße\n');
  });

  test('reads its input as a file that no other process can find', async () => {
    const temporary = tempFolder();
    vi.stubEnv('TMPDIR', temporary);
    const script = 'cat /dev/stdin; test -S /dev/stdin && echo socket; ls "$0"';
    expect((await run(['sh', '-c', script, temporary], { stdin: 'text\n' })).output).toBe('text\n');
    vi.unstubAllEnvs();
  });

  test('B111: may end without reading its input', async () => {
    const result = await run(['true'], { stdin: 'x'.repeat(5_000_000) });
    expect(result).toMatchObject({ exit_code: 0, ended_by: 'exit' });
  });

  test('says which signal ended it', async () => {
    expect(await sh('kill -SEGV $$')).toMatchObject({ exit_code: null, ended_by: 'signal', detail: 'SIGSEGV' });
  });
});

describe('a command that cannot start', () => {
  test('is a result with the reason', async () => {
    const cwd = tempTree({ 'plain.txt': 'x', 'bad.sh': '#!/no/such/interpreter\n' });
    chmodSync(join(cwd, 'bad.sh'), 0o755);
    const reasons: [string[], string][] = [
      [['no-such-program'], 'no-such-program: command not found on PATH'],
      [['./nope'], './nope: no such file'],
      [['./plain.txt'], 'permission denied'],
      [[join(cwd, 'bad.sh')], 'interpreter'],
      [['echo', 'x'.repeat(3_000_000)], '3000006 bytes of arguments'],
      [['echo', 'a\0b'], 'cannot start'],
      [[], 'the command is empty'],
    ];
    for (const [argv, reason] of reasons) {
      const result = await run(argv, { cwd });
      expect(result).toMatchObject({ exit_code: null, ended_by: 'start_failed', output: '' });
      expect(result.detail).toContain(reason);
    }
  });

  test('names a missing folder', async () => {
    expect((await run(['true'], { cwd: '/no/such/folder' })).detail).toContain('folder');
  });
});

describe('output', () => {
  test('B089: 20 MB with exit code 3 keep code, head, tail and the number of bytes left out', async () => {
    const result = await sh('echo first; head -c 20000000 /dev/zero | tr "\\0" x; echo; echo last; exit 3');
    expect(result).toMatchObject({ exit_code: 3, ended_by: 'exit', bytes: 20_000_012 });
    expect(result.output.startsWith('first\nxxx')).toBe(true);
    expect(result.output.endsWith('xxx\nlast\n')).toBe(true);
    expect(result.output).toContain(`[… ${result.omitted_bytes} bytes left out …]`);
    expect(result.omitted_bytes).toBe(20_000_012 - 30_000);
  });

  test('500 MB leave memory flat, and the sink sees every byte', async () => {
    const before = process.memoryUsage().rss;
    let seen = 0;
    const sink = (chunk: Uint8Array): void => void (seen += chunk.length);
    const result = await run(['head', '-c', '500000000', '/dev/zero'], { sink });
    expect(result).toMatchObject({ exit_code: 0, bytes: 500_000_000 });
    expect(seen).toBe(500_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(150e6);
  });

  test('process-05: an endless flood ends at the timeout with bounded output', async () => {
    const result = await run(['yes'], { timeout_ms: 500 });
    expect(result.ended_by).toBe('timeout');
    expect(Buffer.byteLength(result.output)).toBeLessThan(31_000);
  });

  test('B203: bytes that are not UTF-8 do not throw', async () => {
    expect((await sh("printf 'a\\226b\\377'")).output).toBe('a\ufffdb\ufffd');
  });

  test('a sink that fails ends the command and is thrown', async () => {
    const sink = (): void => {
      throw new Error('disk full');
    };
    await expect(sh('echo x; sleep 60', { sink })).rejects.toThrow('cannot be stored');
  });
});
