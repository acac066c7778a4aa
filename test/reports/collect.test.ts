import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { collect } from '../../src/reports/collect.ts';
import { jsonReport } from '../../src/reports/json-report.ts';
import { totalsOf } from '../../src/reports/totals.ts';
import { schemaErrors } from '../helpers/schemas.ts';
import { tempFolder } from '../helpers/temp.ts';
import { resultFile, RUN_END, runStart, turnEvents, writeRun } from './run-folders.ts';

const failed = resultFile({
  run_id: '20261130T114500Z-1-ffffff',
  status: 'failure',
  exit_reason: 'max_turns',
  exit_code: 4,
  output: null,
});

test('the folders of these tests hold what a run could have left', () => {
  expect(schemaErrors('result', resultFile())).toEqual([]);
  expect(schemaErrors('result', failed)).toEqual([]);
});

describe('collecting run folders', () => {
  test('reads results and findings, and sums them up', async () => {
    const root = tempFolder();
    const collection = await collect([writeRun(join(root, 'a')), writeRun(join(root, 'b'), { result: failed })], false);
    expect(collection).toMatchObject({ problems: [], notes: [], not_started: [] });
    const totals = { runs: 2, success: 1, failure: 1, exit_code: 4, turns: 6, findings: 3, cost_usd: 0.04 };
    expect(totalsOf(collection)).toMatchObject(totals);
    expect(schemaErrors('report', jsonReport(collection))).toEqual([]);
  });

  test('keeps the sum of costs unknown when one is', async () => {
    const root = tempFolder();
    const free = resultFile({ run_id: 'other', usage: { cost_usd: null } });
    const collection = await collect([writeRun(join(root, 'a')), writeRun(join(root, 'b'), { result: free })], false);
    expect(totalsOf(collection).cost_usd).toBeNull();
  });

  test('with merge finds runs below folders of folders, and counts a run that is there twice once', async () => {
    const root = tempFolder();
    for (const shard of ['shard-1/review/r1', 'shard-2/review/r2', 'shard-2/copy/r2']) {
      const result = resultFile({ run_id: `run ${shard.at(-1)}` });
      writeRun(join(root, shard), { result });
    }
    const collection = await collect([root], true);
    expect(collection.runs.map(({ run_id }) => run_id).sort()).toEqual(['run 1', 'run 2']);
    expect(collection.notes).toEqual([expect.stringMatching(/^run run 2 is there twice and counts once: /)]);
    expect(collection.problems).toEqual([]);
  });

  test('takes of two copies of a run the one that ended last', async () => {
    const root = tempFolder();
    writeRun(join(root, 'a'), { result: { ...failed, finished_at: '2026-11-30T12:00:00.000Z' } });
    writeRun(join(root, 'b'), { result: { ...failed, message: 'later', finished_at: '2026-11-30T13:00:00.000Z' } });
    const { runs } = await collect([root], true);
    expect(runs.map(({ result }) => result?.message)).toEqual(['later']);
  });

  test('misses a run that a batch tells of and whose folder is not there', async () => {
    const root = tempFolder();
    writeRun(join(root, 'r1'));
    const runs = ['20261130T114500Z-1-ab12cd', 'lost'].map((run_id) => ({ run_id, run_dir: `say/${run_id}` }));
    writeFileSync(join(root, 'report.json'), JSON.stringify({ schema_version: 1, runs }));
    const { problems } = await collect([root], true);
    expect(problems).toEqual([expect.stringMatching(/tells of the run lost, but its folder say\/lost is not there$/)]);
  });

  test('takes over what a batch says of tasks that left no folder, and misses a shard that sent nothing', async () => {
    const root = tempFolder();
    writeRun(join(root, 'one/r1'));
    const not_started = [{ task: 'b', file: 'b.json', reason: 'fail_fast', message: 'a failed' }];
    const report = {
      schema_version: 1,
      shard: { index: 1, count: 3 },
      not_started,
      problems: ['*.yml matches nothing'],
    };
    writeFileSync(join(root, 'one/report-1-of-3.json'), JSON.stringify(report));
    const collection = await collect([root], true);
    expect(collection.not_started).toEqual(not_started);
    expect(collection.problems).toEqual([
      expect.stringContaining('*.yml matches nothing'),
      expect.stringMatching(/^shard 2 of 3 is missing/),
      expect.stringMatching(/^shard 3 of 3 is missing/),
    ]);
    expect(totalsOf(collection).exit_code).toBe(1);
    expect(schemaErrors('report', jsonReport(collection))).toEqual([]);
  });
});

describe('a folder that is not a whole run', () => {
  const refused: [string, (root: string) => string, RegExp][] = [
    ['does not exist', (root) => join(root, 'nowhere'), /there is no run folder .*nowhere$/],
    ['is empty', (root) => (mkdirSync(join(root, 'e')), join(root, 'e')), /is no run folder: it has neither/],
    ['is a file', (root) => (writeFileSync(join(root, 'f'), ''), join(root, 'f')), /is a file, not a run folder/],
    ['is a link', (root) => link(writeRun(join(root, 'r')), join(root, 'l')), /is a symbolic link, not a run folder/],
    [
      'has a broken result',
      (root) => writeRun(join(root, 'r'), { result: '{"run_id":' }),
      /result\.json: not a result/,
    ],
    [
      'has a result of a newer version',
      (root) => writeRun(join(root, 'r'), { result: '{"schema_version":2}' }),
      /schema version 2 is newer/,
    ],
    [
      'has a result that lies about its code',
      (root) => writeRun(join(root, 'r'), { result: resultFile({ exit_code: 4 }) }),
      /not a result: \/(status|exit_reason)/,
    ],
    [
      'has a result with a prototype key',
      (root) => writeRun(join(root, 'r'), { result: '{"__proto__":{"run_id":"x"}}' }),
      /"__proto__" is not allowed/,
    ],
    [
      'has a huge result',
      (root) => huge(writeRun(join(root, 'r')), 'result.json', 2 ** 27),
      /result\.json has 128\.0 MiB; a report reads at most 64\.0 MiB/,
    ],
    [
      'has a huge transcript',
      (root) => huge(writeRun(join(root, 'r')), 'transcript.jsonl', 2 ** 31),
      /transcript\.jsonl has 2\.0 GiB/,
    ],
    [
      'has a pipe for a result',
      (root) => pipe(writeRun(join(root, 'r'), { result: null }), 'result.json'),
      /result\.json is a named pipe/,
    ],
    ['has a link for a transcript', (root) => linked(root), /transcript\.jsonl is a symbolic link/],
    [
      'was killed',
      (root) => writeRun(join(root, 'r'), { result: null }),
      /has no result\.json: the run was killed or is still going/,
    ],
    [
      'has a transcript of a newer version',
      (root) => writeRun(join(root, 'r'), { events: [runStart({}, { transcript_version: 2 })] }),
      /transcript version 2 is not one that this agent-run understands/,
    ],
    [
      'lost its transcript',
      (root) => writeRun(join(root, 'r'), { events: null }),
      /transcript\.jsonl is missing or empty/,
    ],
    [
      'has a transcript that begins in the middle',
      (root) => writeRun(join(root, 'r'), { events: [RUN_END] }),
      /has no events of its 3 turns/,
    ],
  ];

  test.each(refused)('is told about when it %s, and the others are reported', async (_what, make, message) => {
    const root = tempFolder();
    const good = writeRun(join(root, 'good'), { result: resultFile({ run_id: 'good' }) });
    const collection = await collect([make(root), good], false);
    expect(collection.problems).toEqual([expect.stringMatching(message)]);
    expect(collection.runs.map(({ run_id }) => run_id)).toContain('good');
    expect(totalsOf(collection).exit_code).toBe(1);
    expect(schemaErrors('report', jsonReport(collection))).toEqual([]);
  });

  test('still shows its result when only the transcript cannot be read', async () => {
    const folder = writeRun(join(tempFolder(), 'r'), { events: [runStart({}, { transcript_version: 2 })] });
    const { runs } = await collect([folder], false);
    expect(runs).toMatchObject([{ result: { exit_reason: 'completed' }, findings: [], has_transcript: false }]);
  });

  test('is not searched through a link when folders are merged', async () => {
    const root = tempFolder();
    mkdirSync(join(root, 'artifacts'));
    symlinkSync(writeRun(join(root, 'outside')), join(root, 'artifacts/linked'));
    const { runs, problems } = await collect([join(root, 'artifacts')], true);
    expect({ runs, problems }).toEqual({
      runs: [],
      problems: [expect.stringMatching(/linked is a symbolic link, which is not followed; give what it leads to/)],
    });
  });

  test('has its torn last line left out', async () => {
    const folder = writeRun(join(tempFolder(), 'r'), { result: null, events: [runStart(), ...turnEvents(1, 'x')] });
    appendFileSync(join(folder, 'transcript.jsonl'), '{"seq":9,"ti');
    const { runs } = await collect([folder], false);
    expect(runs).toMatchObject([{ result: null, has_transcript: true, task: 'pr-review' }]);
  });
});

function link(target: string, path: string): string {
  symlinkSync(target, path);
  return path;
}

function linked(root: string): string {
  const folder = writeRun(join(root, 'r'), { events: null });
  writeFileSync(join(root, 'secret'), 'secret\n');
  link(join(root, 'secret'), join(folder, 'transcript.jsonl'));
  return folder;
}

function huge(folder: string, name: string, bytes: number): string {
  truncateSync(join(folder, name), bytes);
  return folder;
}

function pipe(folder: string, name: string): string {
  execFileSync('mkfifo', [join(folder, name)]);
  return folder;
}
