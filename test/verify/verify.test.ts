import { expect, test } from 'vitest';
import type { VerifyCommand } from '../../src/core/config.ts';
import { createVerify, type VerifyOptions } from '../../src/verify/verify.ts';
import { exec } from '../../src/workspace/exec.ts';
import { PLAIN } from '../helpers/boundary.ts';
import { processesWith, uniqueSeconds } from '../helpers/processes.ts';
import { tempFolder } from '../helpers/temp.ts';

function verify(
  command: Partial<VerifyCommand> & { run: string[] },
  more: Partial<VerifyOptions> = {},
  signal?: AbortSignal,
) {
  const options = { exec, boundary: PLAIN, cwd: tempFolder(), timeout_ms: 10_000, max_output_bytes: 1000 };
  const run = createVerify({ ...options, redact: (text) => text.replaceAll('s3cret', '***'), ...more });
  return run({ attempts: 1, ...command }, signal ?? new AbortController().signal);
}

test('exit code 0 is a success, with command and output', async () => {
  const cwd = tempFolder();
  const result = await verify({ run: ['sh', '-c', "pwd; echo 'a b'"] }, { cwd });
  expect(result).toMatchObject({ ok: true, exit_code: 0, timed_out: false, output: `${cwd}\na b\n` });
  expect(result.command).toBe(String.raw`sh -c 'pwd; echo '\''a b'\'''`);
  expect(result.duration_ms).toBeGreaterThanOrEqual(0);
});

test('any other code is none', async () => {
  expect(await verify({ run: ['sh', '-c', 'echo broken; exit 3'] })).toMatchObject({
    ok: false,
    exit_code: 3,
    timed_out: false,
    output: 'broken\n',
  });
});

test('its own timeout beats the general one, ends the whole tree and keeps what was printed', async () => {
  const seconds = uniqueSeconds();
  const run = ['sh', '-c', `echo on; setsid sleep ${seconds} & sleep ${seconds}`];
  expect(await verify({ run, timeout_ms: 300 })).toMatchObject({
    ok: false,
    exit_code: null,
    timed_out: true,
    output: 'on\n',
  });
  expect(processesWith(seconds)).toEqual([]);
  expect(await verify({ run }, { timeout_ms: 300 })).toMatchObject({ timed_out: true });
});

test('a program that is not there fails with the reason', async () => {
  const result = await verify({ run: ['no-such-program'] });
  expect(result).toMatchObject({ ok: false, exit_code: null, output: 'no-such-program: command not found on PATH' });
});

test('a crash is no success, and its signal is named', async () => {
  const result = await verify({ run: ['sh', '-c', 'kill -SEGV $$'] });
  expect(result).toMatchObject({ ok: false, exit_code: null, output: '\n[ended by SIGSEGV]' });
});

test('a cancelled one is no success', async () => {
  expect(await verify({ run: ['true'] }, {}, AbortSignal.abort())).toMatchObject({ ok: false, exit_code: null });
});

test('a long output is cut after secrets are gone, also where the cut falls into one', async () => {
  const script =
    "head -c 498 /dev/zero | tr '\\0' x; echo s3cret; head -c 5000 /dev/zero | tr '\\0' y; echo; echo end; exit 1";
  const { output } = await verify({ run: ['sh', '-c', script] });
  expect(output).not.toContain('s3');
  expect(output).toContain('bytes left out');
  expect(output.endsWith('y\nend\n')).toBe(true);
  expect(output.length).toBeLessThan(1100);
});

test('the command line is free of secrets, too', async () => {
  expect((await verify({ run: ['true', 's3cret'] })).command).toBe('true ***');
});
