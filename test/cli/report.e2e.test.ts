import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeSampleRun } from '../../bench/sample-run.mjs';
import { useCli } from '../helpers/cli.ts';
import { schemaErrors } from '../helpers/schemas.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';
import { hostileRun } from '../reports/hostile.ts';
import { resultFile, writeRun } from '../reports/run-folders.ts';

const cli = useCli();
const failed = resultFile({ run_id: 'f', status: 'failure', exit_reason: 'timeout', exit_code: 4, output: null });
const task = (name: string, text: string) => ({
  name,
  prompt: 'Say it.',
  model: { provider: 'script', script: { turns: [{ text }] } },
  sandbox: { mode: 'off' },
});

describe('agent-run report', () => {
  test('tells of a run that agent-run itself left, in every form', async () => {
    const cwd = tempTree({ 'task.json': JSON.stringify(task('say', 'done')) });
    expect((await cli.run(['task.json', '--out', 'out'], { cwd })).code).toBe(0);
    for (const [format, start] of [
      ['html', '<!doctype html>\n<html lang="en">'],
      ['markdown', '# 1 run: 1 success; worst exit code 0'],
      ['json', '{\n  "schema_version": 1'],
      ['junit', '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="agent-run" tests="1"'],
      ['sarif', '{\n  "version": "2.1.0"'],
    ] as const) {
      const { code, stdout, stderr } = await cli.run(['report', 'out', '--format', format], { cwd });
      expect({ code, stderr }).toEqual({ code: 0, stderr: 'agent-run: report of 1 run, worst exit code 0\n' });
      expect(stdout.slice(0, start.length)).toBe(start);
    }
  });

  test('tells of a run that ended before it began, for want of a key, and misses nothing', async () => {
    const cwd = tempTree({ 'task.json': '{ "prompt": "x", "model": "claude-sonnet-5-5" }' });
    expect((await cli.run(['task.json', '--out', 'out'], { cwd })).code).toBe(2);
    const { code, stdout, stderr } = await cli.run(['report', 'out', '--format', 'junit'], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'agent-run: report of 1 run, worst exit code 2\n' });
    expect(stdout).toContain('no credentials for claude-sonnet-5-5');
  });

  test('merges the folders of three shards into one report with the worst code', async () => {
    const cwd = tempFolder();
    for (const shard of [1, 2, 3]) {
      const result = shard === 2 ? failed : resultFile({ run_id: `r${shard}` });
      writeRun(join(cwd, `artifacts/shard-${shard}/review/r`), { result });
    }
    const argv = ['report', 'artifacts', '--merge', '--format', 'json', '--out', 'report.json'];
    expect(await cli.run(argv, { cwd })).toMatchObject({ code: 0, stdout: '' });
    const report: unknown = JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8'));
    expect(report).toMatchObject({ totals: { runs: 3, success: 2, failure: 1, exit_code: 4 } });
    expect(schemaErrors('report', report)).toEqual([]);
    expect((await cli.run([...argv, '--exit-code'], { cwd })).code).toBe(4);
    expect(readdirSync(cwd).sort()).toEqual(['artifacts', 'report.json']);
  });

  test('reports the rest and ends with 2 when a folder could not be read', async () => {
    const cwd = tempFolder();
    writeRun(join(cwd, 'good'));
    const { code, stdout, stderr } = await cli.run(['report', 'good', 'nowhere', '--format=json'], { cwd });
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ totals: { runs: 1, exit_code: 1 } });
    expect(stderr).toContain('agent-run: not reported: there is no run folder nowhere\n');
  });

  test('makes the page of a transcript of 50 MB in a heap of 64 MB', async () => {
    const cwd = tempFolder();
    writeSampleRun(join(cwd, 'run'), { turns: 1000, output_bytes: 26_000 });
    expect(statSync(join(cwd, 'run/transcript.jsonl')).size).toBeGreaterThan(50e6);
    const env = { NODE_OPTIONS: '--max-old-space-size=64' };
    const argv = ['report', 'run', '--format', 'html', '--out', 'page.html'];
    expect((await cli.run(argv, { cwd, env })).code).toBe(0);
    expect(statSync(join(cwd, 'page.html')).size).toBeLessThan(20e6);
  }, 180_000);

  test('holds no workflow command on stdout or stderr, in no form', async () => {
    const cwd = tempFolder();
    hostileRun(join(cwd, 'run'));
    for (const format of ['html', 'markdown', 'json', 'junit', 'sarif']) {
      const { stdout, stderr } = await cli.run(['report', 'run', '--format', format], {
        cwd,
        env: { GITHUB_ACTIONS: 'true' },
      });
      for (const line of `${stdout}\n${stderr}`.split(/\r\n|\r|\n/)) expect(line).not.toMatch(/^\s*::|##\w*\[/);
    }
  });

  test.each([
    [['report'], 'no run folder given'],
    [['report', 'run', '--format', 'pdf'], '--format: found "pdf", expected one of '],
    [['report', 'run', '--out', 'no/such/folder'], 'cannot write the report'],
    [['report', 'run', '--out', '.'], 'expected the file to write'],
  ])('refuses %j', async (argv, message) => {
    const cwd = tempFolder();
    writeRun(join(cwd, 'run'));
    const { code, stderr } = await cli.run(argv, { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync(join(cwd, 'no'))).toBe(false);
  });
});

describe('agent-run diff', () => {
  test('prints two runs side by side, and ends with 9 and the cause when the second is over a threshold', async () => {
    const cwd = tempFolder();
    writeRun(join(cwd, 'a'));
    writeRun(join(cwd, 'b'), { result: resultFile({ run_id: 'b', usage: { cost_usd: 0.05 } }) });
    const plain = await cli.run(['diff', 'a', 'b'], { cwd });
    expect(plain).toMatchObject({ code: 0, stderr: '' });
    expect(plain.stdout).toMatch(/^cost +\$0\.0200 +\$0\.0500 +\+\$0\.0300 \(\+150%\)$/m);
    const over = await cli.run(['diff', 'a', 'b', '--max-cost-increase', '50%', '--format', 'json'], { cwd });
    expect(over.code).toBe(9);
    expect(over.stderr).toContain(
      'gate_failed (exit 9): max-cost-increase: cost $0.0200 -> $0.0500 (+150%), at most +50% allowed',
    );
    const value: unknown = JSON.parse(over.stdout);
    expect(value).toMatchObject({
      ok: false,
      thresholds: [
        { name: 'verdict', ok: true },
        { name: 'max-cost-increase', ok: false },
      ],
    });
    expect(schemaErrors('diff', value)).toEqual([]);
    expect((await cli.run(['diff', 'a', 'b', '--max-cost-increase=200%'], { cwd })).code).toBe(0);
  });

  test.each([
    [['diff', 'a', 'killed'], 'has no result.json: the run was killed or is still going'],
    [['diff', 'a', 'nowhere'], 'there is no run folder nowhere'],
    [['diff', 'a', 'a', '--max-turns-increase', 'x'], '--max-turns-increase: found "x"'],
    [['diff', 'a', 'a', '--format', 'html'], '--format: found "html", expected one of "text", "json"'],
  ])('refuses %j', async (argv, message) => {
    const cwd = tempFolder();
    writeRun(join(cwd, 'a'));
    writeRun(join(cwd, 'killed'), { result: null });
    const { code, stderr } = await cli.run(argv, { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
