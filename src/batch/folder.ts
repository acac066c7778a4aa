import { readdirSync } from 'node:fs';
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

const OURS = /^(?:report|batch)(?:-\d+-of-\d+)?\.jsonl?$/;

/** Opens `--out`, else `agent-run-results`; throws UsageError when it is somebody else's or another batch is alive in it. */
export function openBatchFolder(options: { out: string | undefined; cwd: string; shard?: Shard }): BatchFolder {
  const { out, cwd, shard } = options;
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
  const names = readdirSync(dir);
  if (out !== undefined && names.length > 0 && !names.some((name) => OURS.test(name))) {
    const text = `the folder ${dir} is not empty and no batch wrote it: it holds ${names[0] ?? ''}; name a new or empty folder with --out`;
    throw new UsageError(text);
  }
  ignoreItself(dir);
  const part = shard ? `-${shard.index}-of-${shard.count}` : '';
  const release = takeLock(dir, 'batch', `.batch${part}.lock`);
  return { dir: join(dir), report: `report${part}.json`, record: `batch${part}.jsonl`, release };
}
