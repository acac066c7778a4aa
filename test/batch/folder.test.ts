import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openBatchFolder } from '../../src/batch/folder.ts';
import { tempTree } from '../helpers/temp.ts';
import { batchFolder, taskText, tellBatch } from './harness.ts';

const say = (text: string): string => taskText([{ text }]);

describe('shards that begin together in one new folder', () => {
  test('both open it, whatever the first has written by then', () => {
    const cwd = tempTree({});
    const first = openBatchFolder({ out: 'both', cwd, shard: { index: 1, count: 2 } });
    const second = openBatchFolder({ out: 'both', cwd, shard: { index: 2, count: 2 } });
    expect(second).toMatchObject({ dir: first.dir, report: 'report-2-of-2.json' });
    for (const folder of [first, second]) folder.release();
  });

  test('each run their part', async () => {
    const cwd = batchFolder({ 'a.json': say('A'), 'b.json': say('B') });
    const shards = await Promise.all(
      [1, 2].map((index) => tellBatch(cwd, ['*.json'], { out: 'both', shard: `${index}/2` })),
    );
    expect(shards.map(({ exit_code, report }) => [exit_code, report.runs.map(({ task }) => task)])).toEqual([
      [0, ['a']],
      [0, ['b']],
    ]);
  });
});

test('a folder that a refused batch left is taken again, one with a .gitignore of somebody else is not', async () => {
  const cwd = batchFolder({ 'a.json': say('A'), 'mine/.gitignore': 'dist/\n' });
  await expect(tellBatch(cwd, ['a.json'], { out: 'b', rows: 'none.jsonl' })).rejects.toThrow('--rows: cannot read');
  expect((await tellBatch(cwd, ['a.json'], { out: 'b' })).exit_code).toBe(0);
  await expect(tellBatch(cwd, ['a.json'], { out: 'mine' })).rejects.toThrow('it holds .gitignore');
});

test('a report of an earlier batch is gone as soon as another begins', async () => {
  const cwd = batchFolder({ 'a.json': say('A') });
  const { report_file } = await tellBatch(cwd, ['a.json']);
  expect(existsSync(report_file)).toBe(true);
  const seen: boolean[] = [];
  await tellBatch(cwd, ['a.json'], {}, { begin: () => void seen.push(existsSync(report_file)) });
  expect(seen).toEqual([false]);
  expect(existsSync(report_file)).toBe(true);
});

test('a link or pipe called like a file of the batch is refused, and what it leads to stays', () => {
  const cwd = tempTree({ victim: 'keep', 'linked/report.json': '{}', 'piped/report.json': '{}' });
  symlinkSync('../victim', join(cwd, 'linked/batch.jsonl'));
  execFileSync('mkfifo', [join(cwd, 'piped/batch.jsonl')]);
  for (const out of ['linked', 'piped'])
    expect(() => openBatchFolder({ out, cwd })).toThrow('holds batch.jsonl, which is no regular file; remove it');
  expect(readFileSync(join(cwd, 'victim'), 'utf8')).toBe('keep');
});
