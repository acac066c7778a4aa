import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UsageError, errorText } from '../core/errors.ts';
import { ignoreItself, makeFolders, refuseLink, RESULTS_FOLDER } from '../run/run-folder.ts';
import { takeLock } from '../run/run-lock.ts';
import type { Shard } from '../config/batch-options.ts';

/** Where a batch writes: its report, its record, and a folder NAME/RUN_ID for each run. */
export interface BatchFolder {
  /** Absolute. */
  dir: string;
  /** File names; those of a shard carry its number, so that shards may share a folder. */
  report: string;
  record: string;
  release(): void;
}

/** The lock is there before anything else: a shard that begins a moment later knows by it whose folder this is. */
const OURS = /^(?:(?:report|batch)(?:-\d+-of-\d+)?\.jsonl?|\.batch(?:-\d+-of-\d+)?\.lock)$/;

export interface BatchPlace {
  out: string | undefined;
  cwd: string;
  shard?: Shard;
}

/** Opens `--out`, else `agent-run-results`; throws UsageError when it is somebody else's or another batch is alive in it. */
export function openBatchFolder({ out, cwd, shard }: BatchPlace): BatchFolder {
  const dir = resolve(cwd, out ?? RESULTS_FOLDER);
  refuseLink(dir);
  try {
    makeFolders(dir);
  } catch (error) {
    // EACCES, EROFS, ENOTDIR and their like: the caller chose the place.
    throw new UsageError(`cannot write the folder ${dir}: ${errorText(error)}; name another with --out`, {
      cause: error,
    });
  }
  const strange = strangerIn(dir);
  if (out !== undefined && strange !== undefined) {
    const text = `the folder ${dir} is not empty and no batch wrote it: it holds ${strange}; name a new or empty folder with --out`;
    throw new UsageError(text);
  }
  refuseOddFiles(dir);
  const part = partOf(shard);
  const release = takeLock(dir, 'batch', `.batch${part}.lock`);
  try {
    ignoreItself(dir);
  } catch (error) {
    // UsageError: the folder cannot be written after all; whoever may write it must not find it locked.
    release();
    throw error;
  }
  return { dir: join(dir), report: reportName(shard), record: `batch${part}.jsonl`, release };
}

/** The name of a report's file. */
export function reportName(shard: Shard | undefined): string {
  return `report${partOf(shard)}.json`;
}

function partOf(shard: Shard | undefined): string {
  return shard ? `-${shard.index}-of-${shard.count}` : '';
}

/** What shows that a folder is somebody else's; undefined: it is empty, or a batch has been here. */
function strangerIn(dir: string): string | undefined {
  const names = readdirSync(dir);
  if (names.some((name) => OURS.test(name))) return undefined;
  return names.find((name) => name !== '.gitignore' || !isOurIgnore(join(dir, name)));
}

/** A link called like a file of ours would have what it leads to overwritten, and a pipe would never open. */
function refuseOddFiles(dir: string): void {
  const odd = readdirSync(dir, { withFileTypes: true }).find((entry) => OURS.test(entry.name) && !entry.isFile());
  if (odd === undefined) return;
  throw new UsageError(
    `the folder ${dir} holds ${odd.name}, which is no regular file; remove it, or name another folder with --out`,
  );
}

/** All that a batch leaves which found a mistake before it began. */
function isOurIgnore(file: string): boolean {
  try {
    return readFileSync(file, 'utf8') === '*\n';
  } catch {
    // EISDIR, EACCES: not a file that we wrote.
    return false;
  }
}
