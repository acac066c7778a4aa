// A batch that was killed leaves its record and no report: all that it was to run must be told of.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { collect } from '../../src/reports/collect.ts';
import { jsonReport } from '../../src/reports/json-report.ts';
import { totalsOf } from '../../src/reports/totals.ts';
import { schemaErrors } from '../helpers/schemas.ts';
import { tempFolder } from '../helpers/temp.ts';
import { resultFile, writeRun } from './run-folders.ts';

const TIME = '2026-11-30T11:45:00.000Z';
const tasks = ['a', 'b', 'c', 'd'].map((task) => ({ task, file: `${task}.json` }));
const START = { time: TIME, type: 'batch_start', runs: 4, tasks };
const begin = (task: string) => ({ type: 'run_begin', task, run_dir: `${task}/run-${task}` });
const end = (task: string) => ({ ...begin(task), type: 'run_end', exit_code: 0 });

function record(folder: string, lines: readonly unknown[], name = 'batch.jsonl'): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

describe('merging a batch without a report', () => {
  test('names what ended, what was cut and what never began', async () => {
    const root = tempFolder();
    record(root, [START, begin('a'), end('a'), begin('b')]);
    writeRun(join(root, 'a/run-a'), { result: resultFile({ run_id: 'run-a' }) });
    writeRun(join(root, 'b/run-b'), { result: null, events: '' });
    const collection = await collect([root], true);
    const message = 'the batch was killed, or is still going, and had not begun it';
    expect(collection.not_started).toEqual(
      ['c', 'd'].map((task) => ({ task, file: `${task}.json`, reason: 'cancelled', message })),
    );
    expect(collection.problems).toEqual([
      expect.stringContaining('has no result.json'),
      `${root}/report.json is missing: the batch that began at ${TIME} was killed or is still going; of 4 runs 1 ended, 1 began and did not end`,
    ]);
    expect(totalsOf(collection).exit_code).toBe(1);
    expect(schemaErrors('report', jsonReport(collection))).toEqual([]);
    expect(collection.sources).toEqual(expect.arrayContaining([join(root, 'batch.jsonl'), join(root, 'report.json')]));
  });

  test('counts what the last batch told without running it, and forgets what the one before said', async () => {
    const root = tempFolder();
    const carried = { type: 'run_told', task: 'a', run_dir: 'a/run-a', exit_code: 0 };
    record(root, [START, begin('a'), end('a'), begin('b'), end('b'), START, carried]);
    writeRun(join(root, 'a/run-a'), { result: resultFile({ run_id: 'run-a' }) });
    const { not_started, problems } = await collect([root], true);
    expect(not_started.map(({ task }) => task)).toEqual(['b', 'c', 'd']);
    expect(problems).toEqual([expect.stringContaining('of 4 runs 1 ended, 0 began and did not end')]);
  });

  test('misses a run that it tells of and whose folder is not there', async () => {
    const root = tempFolder();
    record(root, [START, begin('a')]);
    const { problems } = await collect([root], true);
    expect(problems).toContainEqual(expect.stringMatching(/tells of the run run-a, but its folder a\/run-a is not/));
  });

  test('knows the shard by the name of the record', async () => {
    const root = tempFolder();
    record(root, [START], 'batch-2-of-2.jsonl');
    const { problems } = await collect([root], true);
    expect(problems).toEqual([
      expect.stringContaining('report-2-of-2.json is missing'),
      expect.stringContaining('shard 1 of 2 is missing'),
    ]);
  });

  test('leaves a record alone whose batch wrote its report', async () => {
    const root = tempFolder();
    record(root, [START]);
    writeFileSync(join(root, 'report.json'), JSON.stringify({ schema_version: 1, runs: [], not_started: [] }));
    expect(await collect([root], true)).toMatchObject({ problems: [], not_started: [] });
  });

  test.each<[string, unknown[]]>([
    ['is empty', []],
    ['is of other values', [1, null, [], { type: 'batch_start', runs: -1, tasks: { __proto__: 1 } }, { type: 5 }]],
    ['names no tasks', [{ type: 'batch_start', runs: 3 }]],
  ])('is told about when its record %s', async (_what, lines) => {
    const root = tempFolder();
    record(root, [...lines, 'torn']);
    const { problems, not_started } = await collect([root], true);
    expect(problems).toEqual([expect.stringContaining('report.json is missing: the batch was killed')]);
    expect(not_started).toEqual([]);
  });
});

describe('a link among merged folders', () => {
  test('is named when runs may lie behind it, and not when they are searched anyway', async () => {
    const root = tempFolder();
    const outside = join(tempFolder(), 'r');
    writeRun(outside);
    writeRun(join(root, 'in/r'));
    writeFileSync(join(root, 'note.txt'), '');
    symlinkSync(outside, join(root, 'out'));
    symlinkSync('nowhere', join(root, 'gone'));
    symlinkSync('in/r', join(root, 'latest'));
    symlinkSync('note.txt', join(root, 'file'));
    symlinkSync(join(outside, 'result.json'), join(root, 'report.json'));
    const { runs, problems } = await collect([root], true);
    expect(runs).toHaveLength(1);
    expect(problems).toEqual([
      `${root}/gone is a symbolic link, which is not followed, and leads to nothing that can be read`,
      `${root}/out is a symbolic link, which is not followed; give what it leads to, ${outside}`,
      `${root}/report.json is a symbolic link, which is not followed; give what it leads to, ${join(outside, 'result.json')}`,
    ]);
    rmSync(root, { recursive: true });
  });
});
