// `--keep N`: which of a task's run folders go when a run has ended.

import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errorText } from '../core/errors.ts';
import { isJsonObject, parseJson } from '../core/json.ts';
import { RUN_ID, TRANSCRIPT, head, isRealFile, wasRun } from './run-folder.ts';
import { isLocked } from './run-lock.ts';

const BATCH_RECORD = /^batch(?:-\d+-of-\d+)?\.jsonl$/;

/**
 * Removes the run folders beside `own` beyond the newest `keep`; `own` itself always stays. Only what a run wrote, has a
 * result, is held by no living run and named in no batch's record is ever removed: one that was killed can still go on,
 * and a batch that goes on would pay for its runs again. What cannot be removed is a problem, not an error.
 */
export function pruneRunFolders(own: string, keep: number): { removed: string[]; problems: string[] } {
  const parent = dirname(own);
  const removed: string[] = [];
  const problems: string[] = [];
  const named = namedByBatches(dirname(parent));
  const others = runsIn(parent).filter((name) => name !== basename(own));
  for (const name of others.slice(Math.max(0, keep - 1))) {
    const dir = join(parent, name);
    if (named.has(dir) || isLocked(dir) || !isRealFile(join(dir, 'result.json'))) continue;
    try {
      rmSync(dir, { recursive: true, force: true });
      removed.push(name);
    } catch (error) {
      // EACCES and its like: an old folder is no reason to fail a new run.
      problems.push(`cannot remove the old run folder ${dir}: ${errorText(error)}`);
    }
  }
  return { removed, problems };
}

/** Names of run folders, the newest first. */
function runsIn(parent: string): string[] {
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && RUN_ID.test(entry.name) && wasRun(join(parent, entry.name)))
    .map(({ name }) => ({ name, began: beganAt(parent, name) }))
    .sort((a, b) => b.began - a.began || (a.name < b.name ? 1 : -1))
    .map(({ name }) => name);
}

/** In milliseconds, from the first line of the transcript: the name tells the second only, and what follows it is random. */
function beganAt(parent: string, name: string): number {
  const [, time = ''] = /^\{"seq":1,"time":"([^"]*)"/.exec(head(join(parent, name, TRANSCRIPT)) ?? '') ?? [];
  const began = Date.parse(time);
  return Number.isNaN(began)
    ? Date.parse(name.replace(/^(....)(..)(..)T(..)(..)(..)Z.*$/, '$1-$2-$3T$4:$5:$6Z'))
    : began;
}

/** Absolute folders of the runs that the last batches in a folder of results began. */
function namedByBatches(results: string): Set<string> {
  const records = readdirSync(results).filter((name) => BATCH_RECORD.test(name) && isRealFile(join(results, name)));
  const lines = records.flatMap((name) => readFileSync(join(results, name), 'utf8').split('\n'));
  const folders = lines.flatMap((line) => {
    const parsed = parseJson(line);
    const run_dir = parsed.ok && isJsonObject(parsed.value) ? parsed.value['run_dir'] : undefined;
    return typeof run_dir === 'string' ? [resolve(results, run_dir)] : [];
  });
  return new Set(folders);
}
