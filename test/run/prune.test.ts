import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname as hostName } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pruneRunFolders } from '../../src/run/prune.ts';
import { run } from '../../src/run/run.ts';
import { tempFolder, tempTree, writeTree } from '../helpers/temp.ts';
import { configOf } from './harness.ts';

const RUN_ID = '20261130T114500Z-1-ab12cd';
const ids = ['20261101T000000Z-1-000001', '20261102T000000Z-1-000002', '20261103T000000Z-1-000003'] as const;

const firstLine = (time: string): string => `{"seq":1,"time":"${time}","run_id":"x","type":"run_start"}\n`;
const FIRST_LINE = firstLine('2026-11-30T11:45:00.000Z');

/** A task's folder with three ended runs; the answer is the folder of one more, which has just ended. */
function results(): { parent: string; own: string } {
  const parent = join(tempFolder(), 'task');
  for (const id of ids) writeTree(join(parent, id), { 'transcript.jsonl': FIRST_LINE, 'result.json': '{}' });
  const own = join(parent, RUN_ID);
  writeTree(own, { 'transcript.jsonl': FIRST_LINE, 'result.json': '{}' });
  return { parent, own };
}

describe('--keep', () => {
  test('the oldest run folders go, this one and the newest stay', () => {
    const { parent, own } = results();
    expect(pruneRunFolders(own, 2)).toEqual({ removed: [ids[1], ids[0]], problems: [] });
    expect(readdirSync(parent).toSorted()).toEqual([ids[2], RUN_ID]);
  });

  test('runs of one second go by when they began, whatever the random end of their names', () => {
    const parent = join(tempFolder(), 'task');
    const names = ['f', '3', '9', '1'].map((tail) => `20261130T114500Z-1-00000${tail}`);
    for (const [index, name] of names.entries()) {
      const first = firstLine(`2026-11-30T11:45:00.${index}00Z`);
      writeTree(join(parent, name), { 'transcript.jsonl': first, 'result.json': '{}' });
    }
    expect(pruneRunFolders(join(parent, names[3] ?? ''), 2).removed).toEqual([names[1], names[0]]);
  });

  test('the run that has just ended stays, even where a clock says that others are newer', () => {
    const { parent } = results();
    expect(pruneRunFolders(join(parent, ids[0]), 1).removed).toEqual([RUN_ID, ids[2], ids[1]]);
    expect(readdirSync(parent)).toEqual([ids[0]]);
  });

  test('eight runs in a row leave each its own folder', async () => {
    const { config, folder } = await configOf({ turns: [{ text: 'done' }], flags: { keep: '1' } });
    const { out: _out, ...kept } = config;
    for (let round = 0; round < 8; round += 1) {
      const { run_dir } = await run({ config: kept, env: {}, cwd: folder, subscribers: () => [] });
      expect(existsSync(join(run_dir, 'result.json'))).toBe(true);
      expect(readdirSync(dirname(run_dir))).toHaveLength(1);
    }
  });

  test('what the record of a batch names stays, so that the batch can go on', () => {
    const { parent, own } = results();
    const line = { type: 'run_end', key: 'k', task: 'task', run_dir: `task/${ids[0]}`, exit_code: 0 };
    writeFileSync(join(parent, '..', 'batch-1-of-2.jsonl'), `${JSON.stringify(line)}\n{"torn`);
    expect(pruneRunFolders(own, 1).removed).toEqual([ids[2], ids[1]]);
    expect(readdirSync(parent).toSorted()).toEqual([ids[0], RUN_ID]);
  });

  test('what only looks like a run folder stays, and so does a run that is alive', () => {
    const { parent, own } = results();
    writeFileSync(join(parent, ids[0], '.lock'), JSON.stringify({ pid: process.ppid, host: hostName(), run_id: 'x' }));
    mkdirSync(join(parent, '20261001T000000Z-1-00000f'));
    writeTree(join(parent, 'mine'), { 'transcript.jsonl': FIRST_LINE });
    expect(pruneRunFolders(own, 2).removed).toEqual([ids[1]]);
    expect(readdirSync(parent).toSorted()).toEqual(['20261001T000000Z-1-00000f', ids[0], ids[2], RUN_ID, 'mine']);
  });

  test('a run that was killed before it had a result stays: it can still go on', () => {
    const { parent, own } = results();
    rmSync(join(parent, ids[0], 'result.json'));
    expect(pruneRunFolders(own, 2).removed).toEqual([ids[1]]);
    expect(readdirSync(parent).toSorted()).toEqual([ids[0], ids[2], RUN_ID]);
  });

  test('links are neither followed nor taken for run folders', () => {
    const { parent, own } = results();
    const away = tempTree({ 'transcript.jsonl': FIRST_LINE, 'result.json': '{}' });
    symlinkSync(away, join(parent, '20261001T000000Z-1-00000f'));
    symlinkSync(away, join(parent, ids[0], 'outputs'));
    expect(pruneRunFolders(own, 2).removed).toEqual([ids[1], ids[0]]);
    expect(readdirSync(away).toSorted()).toEqual(['result.json', 'transcript.jsonl']);
    expect(readdirSync(parent)).toContain('20261001T000000Z-1-00000f');
  });
});
