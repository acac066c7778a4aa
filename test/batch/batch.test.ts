import { existsSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { schemaCheck } from '../schemas/schema-check.ts';
import { batchFolder, readJson, taskText, tellBatch } from './harness.ts';

const say = (text: string): string => taskText([{ text }]);

describe('a batch', () => {
  test('runs every task in a folder of its own and leaves a report that its schema accepts', async () => {
    const cwd = batchFolder({ 'a.json': say('A'), 'b.json': say('B'), 'c.json': say('C') });
    const { report, exit_code, run } = await tellBatch(cwd, ['*.json'], { workers: '2' });
    expect(exit_code).toBe(0);
    expect(report.runs.map(({ task, output }) => [task, output])).toEqual([
      ['a', 'A'],
      ['b', 'B'],
      ['c', 'C'],
    ]);
    expect(report.totals).toMatchObject({ runs: 3, success: 3, failure: 0, turns: 3 });
    const results = join(cwd, 'agent-run-results');
    expect(readJson(results, run('b')?.run_dir ?? '', 'result.json')).toMatchObject({ output: 'B' });
    const check = await schemaCheck('report');
    expect(check(readJson(results, 'report.json'))).toEqual([]);
  });

  test('ends with the worst code of its runs, by the order of the contract', async () => {
    const limited = taskText([{ tool_use: [{ name: 'read_file', input: { path: 'x' } }] }], {
      tools: { read_file: {} },
      limits: { max_turns: 1, on_limit: 'stop' },
    });
    const cwd = batchFolder({ 'good.json': say('x'), 'limit.json': limited, 'schema.json': taskText([{ text: 'no' }], { output: { schema: { type: 'object' }, repair_attempts: 0 } }) }); // prettier-ignore
    const { exit_code, run } = await tellBatch(cwd, ['*.json']);
    expect(run('schema')).toMatchObject({ exit_code: 3 });
    expect(run('limit')).toMatchObject({ exit_reason: 'max_turns', exit_code: 4 });
    expect(exit_code).toBe(4);
  });

  test('reports a task with a mistake and runs the others', async () => {
    const cwd = batchFolder({ 'a.json': say('A'), 'bad.json': '{ "promt": "x" }' });
    const { exit_code, report, run } = await tellBatch(cwd, ['bad.json', 'a.json']);
    expect(exit_code).toBe(2);
    expect(run('a')).toMatchObject({ status: 'success' });
    expect(run('bad.json')).toMatchObject({ exit_reason: 'config_error', message: expect.stringContaining('promt') });
    expect(report.runs).toHaveLength(2);
  });

  test('refuses tasks that share a name, and runs the rest', async () => {
    const cwd = batchFolder({ 'x/a.json': say('1'), 'y/a.json': say('2'), 'b.json': say('3') });
    const { report, exit_code, run } = await tellBatch(cwd, ['**/*.json']);
    expect(exit_code).toBe(2);
    expect(run('b')).toMatchObject({ status: 'success' });
    const refused = report.runs.filter(({ task }) => task === 'a');
    expect(refused.map((one) => one.file)).toEqual(['x/a.json', 'y/a.json']);
    expect(refused[0]?.message).toContain('two tasks are called "a": "x/a.json" and "y/a.json"');
  });

  test('tells of a glob without a match and of a folder, and runs the rest', async () => {
    const cwd = batchFolder({ 't/a.json': say('A') });
    const { report, exit_code } = await tellBatch(cwd, ['none/*.json', 't', 't/a.json']);
    expect(exit_code).toBe(2);
    expect(report.problems).toEqual([
      expect.stringMatching(/^the glob "none\/\*\.json" matches no file/),
      expect.stringMatching(/^"t" is a folder; .*"t\/\*\.json"$/),
    ]);
    expect(report.totals).toMatchObject({ runs: 1, success: 1, exit_code: 2 });
  });

  test('runs a task that a glob finds by a link, and names a link that leads nowhere', async () => {
    const cwd = batchFolder({ 'shared/b.json': say('B'), 't/a.json': say('A') });
    symlinkSync('../shared/b.json', join(cwd, 't/b.json'));
    symlinkSync('gone.json', join(cwd, 't/c.json'));
    const { report } = await tellBatch(cwd, ['t/*.json']);
    expect(report.runs.map(({ file, exit_code }) => [file, exit_code])).toEqual([
      ['t/a.json', 0],
      ['t/b.json', 0],
      ['t/c.json', 2],
    ]);
  });

  test('begins nothing further with fail-fast, and keeps what is running', async () => {
    const tasks = { 'a.json': taskText([{ error: { status: 400 } }]), 'b.json': say('B'), 'c.json': say('C') };
    const { report, exit_code } = await tellBatch(batchFolder(tasks), ['*.json'], { 'fail-fast': true });
    expect(exit_code).toBe(6);
    expect(report.runs.map(({ task }) => task)).toEqual(['a']);
    expect(report.not_started.map(({ task, reason }) => [task, reason])).toEqual([
      ['b', 'fail_fast'],
      ['c', 'fail_fast'],
    ]);
  });
});

describe('the folder of a batch', () => {
  test('is the one given with --out, and keeps the runs of an earlier batch', async () => {
    const cwd = batchFolder({ 'a.json': say('A') });
    await tellBatch(cwd, ['a.json'], { out: 'results' });
    await tellBatch(cwd, ['a.json'], { out: 'results' });
    expect(readdirSync(join(cwd, 'results', 'a'))).toHaveLength(2);
    expect(existsSync(join(cwd, 'agent-run-results'))).toBe(false);
  });

  test('is refused when it holds what no batch wrote', async () => {
    const cwd = batchFolder({ 'a.json': say('A'), 'mine/notes.md': 'x' });
    await expect(tellBatch(cwd, ['a.json'], { out: 'mine' })).rejects.toThrow(/mine is not empty .* notes\.md/);
    expect(readdirSync(join(cwd, 'mine'))).toEqual(['notes.md']);
  });
});

test('--keep leaves the newest folders of each task, and the others of the batch alone', async () => {
  const cwd = batchFolder({ 'a.json': say('A'), 'b.json': say('B') });
  await tellBatch(cwd, ['b.json']);
  for (let round = 0; round < 3; round += 1) await tellBatch(cwd, ['a.json'], { keep: '2', out: 'agent-run-results' });
  expect(readdirSync(join(cwd, 'agent-run-results/a'))).toHaveLength(2);
  expect(readdirSync(join(cwd, 'agent-run-results/b'))).toHaveLength(1);
});

test('the record of a batch is what its schema says, and holds each run before it spends', async () => {
  const write = taskText([{ text: 'x' }], { tools: { write_file: {} } });
  const cwd = batchFolder({ 'a.json': say('A'), 'b.json': write });
  const seen: string[] = [];
  const record = join(cwd, 'agent-run-results/batch.jsonl');
  await tellBatch(cwd, ['*.json'], {}, {
    subscribers: () => () => [{ name: 'look', onEvent: ({ type }) => void (type === 'run_start' && seen.push(readFileSync(record, 'utf8'))) }],
  }); // prettier-ignore
  expect(seen.map((text) => text.split('"type":"run_begin"').length - 1)).toEqual([1, 2]);
  const check = await schemaCheck('batch');
  const lines = readFileSync(record, 'utf8').trimEnd().split('\n').map((line): unknown => JSON.parse(line)); // prettier-ignore
  expect(lines.flatMap((line) => check(line))).toEqual([]);
  expect(lines).toHaveLength(5);
});

test('many runs side by side all succeed, and leave no listener behind', async () => {
  const rows = Array.from({ length: 60 }, (_, index) => JSON.stringify({ inputs: { n: index } }));
  const task = taskText([{ text: 'x' }], { inputs: { n: {} }, tools: { read_file: {} } });
  const cwd = batchFolder({ 'a.json': task, 'r.jsonl': rows.join('\n') });
  const before = process.listenerCount('SIGTERM');
  const { report } = await tellBatch(cwd, ['a.json'], { rows: 'r.jsonl', workers: '8' });
  expect(report.totals).toMatchObject({ runs: 60, success: 60, turns: 60 });
  expect(process.listenerCount('SIGTERM')).toBe(before);
});
