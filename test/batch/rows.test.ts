import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readRows } from '../../src/batch/rows.ts';
import { schemaCheck } from '../schemas/schema-check.ts';
import { batchFolder, readJson, taskText, tellBatch } from './harness.ts';

describe('rows', () => {
  test('are read line by line, with the line as the name of one without', () => {
    const text = '\ufeff{"name":"a","workspace":"w","inputs":{"n":1,"b":true}}\r\n\n{"inputs":{"t":"x"}}\n';
    expect(readRows(text, 'r.jsonl')).toEqual({
      rows: [
        { name: 'a', line: 1, origin: 'r.jsonl:1', workspace: 'w', inputs: { n: '1', b: 'true' } },
        { name: 'line-3', line: 3, origin: 'r.jsonl:3', inputs: { t: 'x' } },
      ],
      problems: [],
    });
  });

  test.each([
    ['{"name":', 'r:1: found no JSON'],
    ['[1]', 'r:1: found [1], expected an object'],
    ['{"nam":"x"}', 'r:1: found the unknown key "nam", expected name, workspace, inputs; did you mean "name"?'],
    ['{"name":"a/b"}', 'r:1: name: found "a/b"'],
    ['{"workspace":""}', 'r:1: workspace: found ""'],
    ['{"inputs":{"a":null}}', 'r:1: inputs.a: found null'],
    ['{"name":"a"}\n{"name":"a"}', 'r:2: the name "a" stands on line 1 already'],
  ])('of which one is wrong are told with their line: %s', (text, message) => {
    expect(readRows(text, 'r').problems[0]).toContain(message);
  });
});

test('the schema of a row takes what is taken, and no more', async () => {
  const check = await schemaCheck('row');
  expect(check({ name: 'a', workspace: 'w', inputs: { n: 1, b: true, t: 'x' } })).toEqual([]);
  for (const bad of [{ nam: 'x' }, { name: 'a/b' }, { workspace: '' }, { inputs: { a: null } }]) {
    expect(check(bad)).not.toEqual([]);
  }
});

describe('a batch of rows', () => {
  const task = taskText([{ text: 'done' }], { inputs: { who: { required: true, enum: ['ann', 'bob'] } }, prompt: 'Greet {{ inputs.who }}.' }); // prettier-ignore

  test('runs the one task with the inputs and in the workspace of each row, and reports broken lines', async () => {
    const rows = [
      '{"name":"one","inputs":{"who":"ann"},"workspace":"w"}',
      '{"name":"two","inputs":{"who":"bob"}}',
      'no json',
      '{"name":"four","inputs":{"who":"eve"}}',
    ];
    const cwd = batchFolder({ 'greet.json': task, 'rows.jsonl': rows.join('\n'), 'w/x.txt': '' });
    const told = await tellBatch(cwd, ['greet.json'], { rows: 'rows.jsonl', workers: '2' });
    expect(told.exit_code).toBe(2);
    expect(told.report.problems).toEqual([expect.stringMatching(/^rows\.jsonl:3: found no JSON/)]);
    expect(told.report.runs.map(({ task: name, exit_code }) => [name, exit_code])).toEqual([
      ['greet.one', 0],
      ['greet.two', 0],
      ['rows.jsonl:4', 2],
    ]);
    expect(told.run('rows.jsonl:4')?.message).toContain('rows.jsonl:4 who: found "eve", expected one of "ann", "bob"');
    expect(readJson(cwd, 'agent-run-results', told.run('greet.one')?.run_dir ?? '', 'result.json')).toMatchObject({
      task: { name: 'greet.one' },
    });
  });

  test('without any row is code 2, and says so; a shard without any is not', async () => {
    const cwd = batchFolder({ 'a.json': task, 'none.jsonl': '\n\n', 'one.jsonl': '{"inputs":{"who":"ann"}}' });
    const { exit_code, report } = await tellBatch(cwd, ['a.json'], { rows: 'none.jsonl' });
    expect(exit_code).toBe(2);
    expect(report).toMatchObject({ runs: [], problems: ['none.jsonl holds no row; expected one on each line'] });
    expect((await tellBatch(cwd, ['a.json'], { rows: 'one.jsonl', shard: '2/2' })).exit_code).toBe(0);
  });

  test('needs exactly one task', async () => {
    const cwd = batchFolder({ 'a.json': task, 'b.json': task, 'rows.jsonl': '{"inputs":{"who":"ann"}}' });
    await expect(tellBatch(cwd, ['*.json'], { rows: 'rows.jsonl' })).rejects.toThrow('--rows: found 2 tasks');
  });

  test('of a stranger are refused: rows choose inputs and workspaces', async () => {
    const cwd = batchFolder({ 'a.json': task, 'rows.jsonl': '{}', '.git/HEAD': 'ref: refs/heads/main\n' });
    const asked = tellBatch(cwd, [join(cwd, 'a.json')], { rows: 'rows.jsonl', untrusted: true });
    await expect(asked).rejects.toThrow(/--rows: "rows\.jsonl" lies in the checkout/);
  });
});

describe('shards', () => {
  const tasks = Object.fromEntries(
    Array.from({ length: 7 }, (_, index) => [`t${index}.json`, taskText([{ text: 'x' }])]),
  );

  test('have each run exactly once, whatever the order of the words', async () => {
    const cwd = batchFolder(tasks);
    const words = Object.keys(tasks);
    const names: string[] = [];
    for (const index of [1, 2, 3]) {
      const order = index === 2 ? words.toReversed() : words;
      const { report } = await tellBatch(cwd, order, { shard: `${index}/3` });
      expect(report.shard).toEqual({ index, count: 3 });
      names.push(...report.runs.map(({ task: name }) => name));
    }
    expect(names).toEqual(['t0', 't3', 't6', 't1', 't4', 't2', 't5']);
  });

  test('without any run are a success', async () => {
    const { exit_code, report } = await tellBatch(batchFolder({ 'a.json': task() }), ['a.json'], { shard: '2/2' });
    expect(exit_code).toBe(0);
    expect(report.runs).toEqual([]);
  });

  const task = (): string => taskText([{ text: 'x' }]);
});
