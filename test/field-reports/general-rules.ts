import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { hasVariable, listProcesses } from '../../src/workspace/process-list.ts';
import type { FieldRun } from './harness.ts';

/** What holds for every run whatever it was about; the general rules of the field reports. */
export function checkGeneralRules(run: FieldRun): void {
  checkResult(run);
  checkRequests(run);
  checkEnd(run);
  checkSecrets(run);
  const mistake = run.result.exit_code === 2 || run.result.exit_reason === 'sandbox_unavailable';
  if (mistake) expect(run.turns, 'a config error is found before the first request').toEqual([]);
}

/** Rule 1: one result, whose code is the process's, and which never looks better than the run was. */
function checkResult({ code, result, events, artifact, run_dir, argv, stdout }: FieldRun): void {
  expect(result.exit_code, 'the code of the result').toBe(code);
  expect(result.status === 'success').toBe(code === 0);
  const ends = events.filter((event) => event.type === 'run_end').length;
  const segments = events.filter((event) => event.type === 'run_start' || event.type === 'run_resume').length;
  // A segment that was killed has none, which only a later one can show; a file that cannot be written adds one.
  const failed = result.exit_reason === 'io_error';
  if (events.length > 0 && !result.resumed && !failed) expect(ends, 'one run_end a segment').toBe(1);
  expect(ends).toBeLessThanOrEqual(Math.max(1, segments) + (failed ? 1 : 0));
  if (events.length > 0) expect(events.at(-1)).toMatchObject({ type: 'run_end' });
  const file = artifact('output.json') ?? artifact('output.md');
  expect(file !== undefined, 'an output file if and only if there is an output').toBe(result.output !== null);
  if (result.output === null && !argv.includes('--format')) expect(stdout).toBe('');
  for (const name of Object.values(result.artifacts)) expect(existsSync(join(run_dir, name)), name).toBe(true);
}

/** Rule 2; what the service itself demands, its stand-in has checked. */
function checkRequests({ server, turns }: FieldRun): void {
  expect(server.failures).toEqual([]);
  for (const { text, headers } of turns) {
    expect(text.isWellFormed()).toBe(true);
    const body = JSON.parse(text) as { stream?: boolean };
    expect(body.stream).toBe(true);
    expect(text.match(/"cache_control"/g)?.length ?? 0).toBeLessThanOrEqual(4);
    expect(text).not.toContain('"text":""');
    expect(headers['content-type']).toBe('application/json');
  }
}

/** Rule 3: the process is gone soon after its result, and nothing it started lives on. */
function checkEnd({ run_dir, ended_at, mark }: FieldRun): void {
  const result = join(run_dir, 'result.json');
  if (existsSync(result)) expect(ended_at - statSync(result).mtimeMs).toBeLessThan(2000);
  const left = listProcesses().filter(({ pid }) => pid !== process.pid && hasVariable(pid, mark));
  expect(left, 'processes of the run that still live').toEqual([]);
}

/** Rule 4: no secret in any file or stream, as it is or as base64. */
function checkSecrets({ run_dir, stdout, stderr, canaries }: FieldRun): void {
  const texts = { stdout, stderr, ...filesBelow(run_dir) };
  for (const [name, text] of Object.entries(texts)) {
    for (const secret of canaries) {
      expect(text.includes(secret), `a secret in ${name}`).toBe(false);
      expect(text.includes(Buffer.from(secret).toString('base64')), `a secret in ${name}, encoded`).toBe(false);
    }
  }
}

function filesBelow(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'latin1')]),
  );
}
