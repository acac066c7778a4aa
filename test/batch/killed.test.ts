import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { collect } from '../../src/reports/collect.ts';
import { schemaCheck } from '../schemas/schema-check.ts';
import { batchFolder, taskText, tellBatch } from './harness.ts';

const say = (text: string): string => taskText([{ text }]);

test('the record tells of what was carried over or refused, so that a batch killed behind its last run misses none', async () => {
  const cwd = batchFolder({ 'a.json': say('A'), 'b.json': '{', 'c.json': say('C') });
  const folder = join(cwd, 'agent-run-results');
  await tellBatch(cwd, ['a.json']);
  await tellBatch(cwd, ['*.json'], { continue: true });
  rmSync(join(folder, 'report.json'));
  const { problems, not_started, runs } = await collect([folder], true);
  expect(problems).toContainEqual(expect.stringContaining('of 3 runs 3 ended, 0 began and did not end'));
  expect(not_started).toEqual([]);
  expect(runs.map(({ task }) => task).sort()).toEqual(['a', 'b.json', 'c']);
  const lines = readFileSync(join(folder, 'batch.jsonl'), 'utf8').trimEnd().split('\n');
  const values = lines.map((line): unknown => JSON.parse(line));
  const check = await schemaCheck('batch');
  expect(values.flatMap((value) => check(value))).toEqual([]);
  expect(values).toContainEqual(expect.objectContaining({ type: 'run_told', task: 'a', exit_code: 0 }));
  expect(values).toContainEqual(expect.objectContaining({ type: 'run_told', task: 'b.json', exit_code: 2 }));
});
