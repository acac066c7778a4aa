import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { nameOf } from './safe-file.ts';
import { type BatchPart, readBatch } from './batch-part.ts';
import { readUnended, reportBeside } from './batch-record.ts';
import { findRuns, type Found } from './find-runs.ts';
import { readRun, type RunRecord } from './run-record.ts';

/** All that a report tells of. */
export interface Collection {
  /** Runs with a result, and runs that never ended. */
  runs: RunRecord[];
  not_started: BatchPart['not_started'];
  /** What was asked for and could not be reported, folders of unreadable runs included. */
  problems: string[];
  /** What a reader should know that is no failure: runs found twice. */
  notes: string[];
  /** Run folders and files of batches that this was read from. */
  sources: string[];
}

/**
 * Reads the run folders given, or with `merge` all that lie at and below them, together with what batches say of tasks
 * that left no folder. A run that is there twice counts once, as it ended last.
 */
export async function collect(given: readonly string[], merge: boolean): Promise<Collection> {
  const found: Found = merge ? await findAll(given) : { folders: [...given], batches: [], records: [], problems: [] };
  const records: RunRecord[] = [];
  for (const folder of found.folders) records.push(await readRun(folder));
  const batches: BatchPart[] = [];
  for (const file of found.batches) batches.push(await readBatch(file));
  for (const file of found.records) batches.push(await readUnended(file));
  const { runs, notes } = once(records.filter((record) => record.result !== null || record.has_transcript));
  const problems = [...records.flatMap((record) => record.problems), ...batches.flatMap((batch) => batch.problems)];
  const not_started = batches.flatMap((batch) => batch.not_started);
  const missing = [...missingShards(batches), ...missingRuns(batches, records)];
  return {
    runs,
    not_started,
    problems: [...found.problems, ...problems, ...missing],
    notes,
    sources: [...found.folders, ...found.batches, ...found.records.flatMap(withReport)],
  };
}

/** The place of a report counts too: one that a batch did not write would make it look ended. */
function withReport(record: string): string[] {
  return [record, join(dirname(record), reportBeside(basename(record)) ?? '')];
}

/** The caller's own words name real folders: a link among collected files may lead anywhere. */
async function findAll(given: readonly string[]): Promise<Found> {
  const problems: string[] = [];
  const roots: string[] = [];
  for (const root of given) {
    const stat = await lstat(root).catch(() => null);
    if (stat === null || stat.isDirectory()) roots.push(root);
    else problems.push(`${root} is ${stat.isFile() ? 'a file' : nameOf(stat)}, not a folder`);
  }
  const found = await findRuns(roots);
  return { ...found, problems: [...problems, ...found.problems] };
}

function once(records: readonly RunRecord[]): { runs: RunRecord[]; notes: string[] } {
  const byId = new Map<string, RunRecord>();
  const notes: string[] = [];
  for (const [index, record] of records.entries()) {
    const key = record.run_id === '' ? `no id ${index}` : record.run_id;
    const other = byId.get(key);
    if (!other) byId.set(key, record);
    else {
      const [kept, dropped] = endOf(record) > endOf(other) ? [record, other] : [other, record];
      byId.set(key, kept);
      notes.push(`run ${key} is there twice and counts once: ${kept.run_dir}, not ${dropped.run_dir}`);
    }
  }
  return { runs: [...byId.values()], notes };
}

function endOf({ result }: RunRecord): number {
  return result === null ? 0 : Date.parse(result.finished_at) || 0;
}

/** A shard that sent nothing would otherwise look like one that had nothing to do. */
function missingShards(batches: readonly BatchPart[]): string[] {
  const shards = batches.flatMap(({ shard }) => (shard ? [shard] : []));
  const count = Math.max(0, ...shards.map((shard) => shard.count));
  const odd = shards.find((shard) => shard.count !== count);
  if (odd) return [`shards of different batches are mixed: one of ${odd.count} and one of ${count}`];
  const seen = new Set(shards.map(({ index }) => index));
  const missing: number[] = [];
  for (let index = 1; index <= count && missing.length < 20; index += 1) if (!seen.has(index)) missing.push(index);
  return missing.map((index) => `shard ${index} of ${count} is missing: no folder holds its report`);
}

/** A run that was left behind when folders were collected must not be one that never was. */
function missingRuns(batches: readonly BatchPart[], records: readonly RunRecord[]): string[] {
  // A run that was killed before its first line has no id but the name of its folder.
  const there = new Set(records.flatMap(({ run_id, run_dir }) => [run_id, basename(run_dir)]));
  return batches.flatMap(({ path, runs }) =>
    runs
      .filter(({ run_id }) => !there.has(run_id))
      .map(({ run_id, run_dir }) => `${path} tells of the run ${run_id}, but its folder ${run_dir} is not there`),
  );
}
