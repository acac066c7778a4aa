import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import type { Exec, ToolContext } from '../../src/core/ports.ts';
import { createRedactor } from '../../src/journal/redact.ts';
import { createOutputStore, MAX_OUTPUT_BYTES } from '../../src/run/output-store.ts';
import { createBash } from '../../src/tools/bash.ts';
import { exec } from '../../src/workspace/exec.ts';
import { tempFolder } from '../helpers/temp.ts';
import { plainBoundary } from '../policy/case-fixture.ts';
import { call, textOf, toolContext, workspace } from './tool-context.ts';

async function run(script: string, input: JsonObject = {}, changes: Partial<ToolContext> = {}, start: Exec = exec) {
  const { root } = await workspace({ 'a.txt': 'hello\n' });
  const tool = createBash({ exec: start, boundary: plainBoundary(root), cwd: root });
  const { context, stored } = toolContext(changes);
  const output = await call(
    tool,
    { command: 'not this', ...input },
    { kind: 'script', effect: 'write', script },
    context,
  );
  return { ...output, text: textOf(output), stored };
}

describe('the bash tool', () => {
  test('runs the script of the plan in the workspace, never the text of the call', async () => {
    expect(await run("'cat' 'a.txt'")).toMatchObject({ status: 'ok', text: 'hello', bytes: 6 });
  });

  test('says when there is no output', async () => {
    expect(await run('true')).toMatchObject({ status: 'ok', text: '(no output)' });
    expect((await run('exit 2')).text).toBe('[exit code 2]');
  });

  test('answers a non-zero exit as an error with output and code', async () => {
    expect(await run('echo out; echo err >&2; exit 3')).toMatchObject({
      status: 'error',
      text: 'out\nerr\n[exit code 3]',
    });
  });

  test('gives a command no input', async () => {
    expect(await run('cat')).toMatchObject({ status: 'ok', text: '(no output)' });
  });

  test('keeps head and tail of a long output, its exit code, and stores the whole', async () => {
    const result = await run('seq 1 200000; exit 3', {}, { max_output_bytes: 1000 });
    expect(result).toMatchObject({ status: 'error', bytes: 1_288_895, output_file: 'outputs/1.txt' });
    expect(result.text).toMatch(
      /^1\n2\n[^]*bytes left out[^]*\n200000\n[^]*\[read_file run:outputs\/1\.txt pages the whole\]\n\[exit code 3\]$/,
    );
    expect(Buffer.byteLength(result.text)).toBeLessThan(1300);
    expect(result.stored('outputs/1.txt')).toHaveLength(1_288_895);
  });

  test('says how much of an enormous output is stored, and holds no more of it than is shown', async () => {
    const store = createOutputStore(tempFolder());
    const command = 'head -c 40000000 /dev/zero | tr "\\0" x';
    const result = await run(command, {}, { max_output_bytes: 1000, keepAll: () => store('a') });
    expect(result).toMatchObject({ status: 'ok', bytes: 40_000_000, output_file: 'outputs/0001-a.txt' });
    expect(result.text).toContain(`pages its first ${MAX_OUTPUT_BYTES} bytes`);
  });

  test('shows and stores no part of a secret that lies on the edge of a cut', async () => {
    const redact = (text: string) => text.replaceAll('s3cret-value', '***');
    const command = "head -c 493 /dev/zero | tr '\\0' x; printf s3cret-value; head -c 5000 /dev/zero | tr '\\0' y";
    const secrets = createRedactor({ env: { MY_TOKEN: 's3cret-value' }, extra_names: [] });
    const result = await run(command, {}, { max_output_bytes: 1000, redact, filter: () => secrets.stream() });
    expect(result.text).toContain('bytes left out');
    expect(result.text).not.toContain('s3');
    expect(result.stored('outputs/1.txt')).toContain('x[redacted]y');
    expect((await run('printf s3cret-value', {}, { redact })).text).toBe('***');
  });

  test('decodes output that is not UTF-8 without failing', async () => {
    expect(await run("printf '\\226ok'")).toMatchObject({ status: 'ok', text: '\uFFFDok' });
  });

  test("ends at the policy's time with what was there, and a shorter timeout_ms counts", async () => {
    const late = await run('echo partial; sleep 30', {}, { timeout_ms: 300 });
    expect(late).toMatchObject({ status: 'timed_out', text: expect.stringMatching(/^partial\n\[timed out/) });
    expect((await run('sleep 30', { timeout_ms: 200 })).status).toBe('timed_out');
  });

  test.each([
    [60_000, 5000],
    [0, 1],
    [-5, 1],
    [100, 100],
  ])('never takes more time than the policy gives: timeout_ms %i becomes %i', async (timeout_ms, given) => {
    let seen = 0;
    await run('true', { timeout_ms }, { timeout_ms: 5000 }, (_argv, options) => {
      seen = options.timeout_ms;
      return exec(['true'], options);
    });
    expect(seen).toBe(given);
  });

  test('ends when the run is cut', async () => {
    const stop = new AbortController();
    const running = run('echo begun; sleep 30', {}, { signal: stop.signal });
    setTimeout(() => stop.abort(), 300);
    expect(await running).toMatchObject({ status: 'cancelled', text: expect.stringContaining('begun\n[cut') });
  });

  test('names the signal that ended the command', async () => {
    expect(await run('kill -KILL $$')).toMatchObject({ status: 'error', text: '[ended by a signal: SIGKILL]' });
  });

  test('says when the shell cannot start', async () => {
    const { root } = await workspace();
    const tool = createBash({ exec, boundary: plainBoundary(root), cwd: join(root, 'gone') });
    const output = await call(tool, { command: '' }, { kind: 'script', effect: 'read', script: 'true' });
    expect(output).toMatchObject({ status: 'error', content: [{ text: expect.stringContaining('[could not start') }] });
  });
});
