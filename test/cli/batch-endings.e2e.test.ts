import { spawn } from 'node:child_process';
import { existsSync, openSync, closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { tempTree } from '../helpers/temp.ts';
import { taskText } from '../batch/harness.ts';

const cli = useCli();
const SAY = taskText([{ text: '{"a":1}' }]);
const GATE = taskText([{ text: '{"a":1}' }], {
  output: { schema: { type: 'object' }, gate: { properties: { a: { const: 2 } } } },
});
const FULL = '/dev/full';

/** The command with a stdout that takes nothing. */
async function unread(argv: readonly string[], cwd: string): Promise<{ code: number | null; stderr: string }> {
  const stdout = openSync(FULL, 'w');
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd };
  const child = spawn(process.execPath, [cli.path(), ...argv], { cwd, env, stdio: ['ignore', stdout, 'pipe'] });
  closeSync(stdout);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stderr })));
}

const report = (cwd: string): unknown =>
  JSON.parse(readFileSync(join(cwd, 'agent-run-results/report.json'), 'utf8')) as unknown;
const lastLine = (stderr: string): string => stderr.trimEnd().split('\n').at(-1) ?? '';

describe.skipIf(!existsSync(FULL))('a batch whose report stdout did not take', () => {
  test.each([
    ['all well', { 'ok.json': SAY, 'ok2.json': SAY }],
    ['a gate that says no', { 'ok.json': SAY, 'gate.json': GATE }],
    ['a mistake', { 'ok.json': SAY, 'bad.json': '{}' }],
  ])('ends with 1 in its code, its last line and its report: %s', async (_what, tasks) => {
    const cwd = tempTree(tasks);
    const { code, stderr } = await unread(['run', ...Object.keys(tasks)], cwd);
    expect(code).toBe(1);
    expect(lastLine(stderr)).toMatch(
      /^agent-run: io_error \(exit 1\): stdout was closed or not read .*; 2 runs: .* \| at \S+report\.json \| spent .* \| next: the same command with --continue$/,
    );
    expect(stderr.match(/^agent-run: \w+ \(exit/gm)).toHaveLength(1);
    expect(report(cwd)).toMatchObject({
      totals: { exit_code: 1 },
      problems: [expect.stringContaining('stdout was closed')],
    });
  });
});

describe('the last line of a batch', () => {
  test('names the total that ran out, and no file that is not there', async () => {
    const usage = { input_tokens: 500_000, output_tokens: 0 };
    const task = taskText([{ text: 'x', usage }], { prices: { input: 1, output: 1 }, limits: { max_cost_usd: 0.6 } });
    const cwd = tempTree({ 'a.json': task, 'b.json': task, 'c.json': task });
    const argv = ['run', 'a.json', 'b.json', 'c.json', '--max-total-cost-usd', '0.5'];
    const { code, stderr } = await cli.run(argv, { cwd });
    expect(code).toBe(4);
    expect(lastLine(stderr)).toMatch(/next: the same command with --continue and a higher --max-total-cost-usd$/);
    const more = [...argv.slice(0, -1), '5', '--continue'];
    expect(JSON.parse((await cli.run([...more, '--format', 'json'], { cwd })).stdout)).toMatchObject({
      runs: [{ carried: true }, { exit_code: 0, turns: 1 }, { exit_code: 0, turns: 1 }],
    });
  });

  test('says what to do about a glob without a match, in words that can be followed', async () => {
    const cwd = tempTree({ 'a.json': SAY });
    const { stderr } = await cli.run(['run', 'a.json', 'none/*.json'], { cwd });
    expect(lastLine(stderr)).toMatch(
      /^agent-run: config_error \(exit 2\): the glob "none\/\*\.json" matches no file .* \| next: mend that, then the same command with --continue$/,
    );
    const checked = await cli.run(['validate', 'none/*.json'], { cwd });
    expect(lastLine(checked.stderr)).toMatch(/ \| next: mend that, then the same command$/);
  });
});

test('the line of a task with a mistake ends with the nearest valid name, however long its message is', async () => {
  const long = 'x'.repeat(150);
  const cwd = tempTree({ 'a.json': SAY, [`${long}.json`]: `{ "promt": "${'y'.repeat(200)}", "model": "m" }` });
  const { stderr } = await cli.run(['run', 'a.json', `${long}.json`], { cwd });
  expect(stderr).toMatch(/^\[\d\/2\] x+\.json: config_error \(exit 2\): .*did you mean "prompt"\?/m);
});
