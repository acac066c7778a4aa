import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { schemaCheck } from '../schemas/schema-check.ts';
import { useCli } from '../helpers/cli.ts';
import { tempTree } from '../helpers/temp.ts';
import { taskText } from '../batch/harness.ts';

const cli = useCli();
const TASKS = { 't/a.json': taskText([{ text: 'A' }]), 't/b.json': taskText([{ text: '::error::B' }]) };

describe('stdout of a batch', () => {
  test('has a line for each run, and stderr one for the whole', async () => {
    const { code, stdout, stderr } = await cli.run(['run', 't/*.json', '--workers', '2'], { cwd: tempTree(TASKS) });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^0\tcompleted\ta\ta\/\S+\n0\tcompleted\tb\tb\/\S+\n$/);
    expect(stderr).toMatch(
      /^agent-run: completed \(exit 0\): 2 runs: 2 success \| at \S+report\.json \| spent 2 turns/m,
    );
  });

  test('is the report with --format json, on a mistake of the command line too', async () => {
    const cwd = tempTree(TASKS);
    const good = await cli.run(['run', 't/a.json', 't/b.json', '--format', 'json'], { cwd });
    const file = join(cwd, 'agent-run-results/report.json');
    expect(JSON.parse(good.stdout)).toEqual(JSON.parse(readFileSync(file, 'utf8')));
    const bad = await cli.run(['run', 't/*.json', '--shard', '0/2', '--format', 'json'], { cwd });
    expect(bad.code).toBe(2);
    expect(JSON.parse(bad.stdout)).toMatchObject({ runs: [], problems: [expect.stringContaining('found "0/2"')] });
    expect(bad.stderr).toMatch(
      /^agent-run: config_error \(exit 2\): --shard: found "0\/2".* \| spent nothing \| next: /m,
    );
  });

  test('is every event with --format stream-json, the report last', async () => {
    const { stdout } = await cli.run(['run', 't/*.json', '--format', 'stream-json'], { cwd: tempTree(TASKS) });
    const events = stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as { type: string }); // prettier-ignore
    expect(events.filter(({ type }) => type === 'run_end')).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ type: 'batch_end', report: { totals: { runs: 2 } } });
  });
});

test('--dry-run checks what a batch would run, rows included, and runs nothing', async () => {
  const task = taskText([{ text: 'x' }], { inputs: { who: { required: true } }, prompt: 'Greet {{ inputs.who }}.' });
  const cwd = tempTree({ 'greet.json': task, 'r.jsonl': '{"name":"a","inputs":{"who":"ann"}}\n{"name":"b"}\n' });
  const { code, stdout, stderr } = await cli.run(['run', 'greet.json', '--rows', 'r.jsonl', '--dry-run'], { cwd });
  expect(code).toBe(2);
  expect(stdout).toMatch(/^greet\.a: valid\n/);
  expect(stderr).toContain('r.jsonl:2: ');
  expect(stderr).toContain('no value for the required input "who"');
  expect(readdirSync(cwd).toSorted()).toEqual(['greet.json', 'r.jsonl']);
});

test('validate expands globs itself', async () => {
  const { code, stdout } = await cli.run(['validate', 't/*.json'], { cwd: tempTree(TASKS) });
  expect(code).toBe(0);
  expect(stdout.match(/^t\/[ab]\.json: valid$/gm)).toHaveLength(2);
});

describe('report.json of an earlier batch', () => {
  const report = (cwd: string, name = 'report.json'): unknown =>
    JSON.parse(readFileSync(join(cwd, 'b', name), 'utf8')) as unknown;

  test.each([
    ['an option nobody knows', ['--wrokers', '2'], 'unknown option --wrokers'],
    ['a value of the wrong form', ['--timeout', '90'], '--timeout: found "90"'],
    ['a batch option out of range', ['--workers', '0'], '--workers: found'],
    ['rows that are not there', ['--rows', 'none.jsonl'], '--rows: cannot read "none.jsonl"'],
  ])('does not stand for a call that never began: %s', async (_what, more, message) => {
    const cwd = tempTree(TASKS);
    expect((await cli.run(['run', 't/*.json', '--out', 'b'], { cwd })).code).toBe(0);
    expect((await cli.run(['run', 't/*.json', '--out', 'b', ...more], { cwd })).code).toBe(2);
    expect(report(cwd)).toMatchObject({ runs: [], totals: { exit_code: 2 }, problems: [expect.stringContaining(message)] }); // prettier-ignore
    expect((await schemaCheck('report'))(report(cwd))).toEqual([]);
    expect((await cli.run(['run', 't/*.json', '--out', 'b', '--continue'], { cwd })).code).toBe(0);
  });

  test('stays when the call was about another shard, or about one run only', async () => {
    const cwd = tempTree({ ...TASKS, 'bad.json': '{}' });
    await cli.run(['run', 't/*.json', '--out', 'b'], { cwd });
    await cli.run(['run', 't/*.json', '--out', 'b', '--shard', '3/2'], { cwd });
    await cli.run(['run', 't/*.json', '--out', 'b', '--shard', '1/2', '--rows', 'none'], { cwd });
    await cli.run(['bad.json', '--out', 'b'], { cwd });
    expect(report(cwd)).toMatchObject({ totals: { exit_code: 0, runs: 2 } });
    expect(report(cwd, 'report-1-of-2.json')).toMatchObject({ totals: { exit_code: 2 }, shard: { index: 1, count: 2 } }); // prettier-ignore
  });
});
