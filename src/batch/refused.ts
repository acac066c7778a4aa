// A batch that ended before it began: in its folder no report of an earlier one must stand as its own.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseShard } from '../config/batch-options.ts';
import { UsageError } from '../core/errors.ts';
import { writeAtomically } from '../run/artifacts.ts';
import { SYSTEM_CLOCK } from '../run/clock.ts';
import { RESULTS_FOLDER } from '../run/run-folder.ts';
import { openBatchFolder, reportName } from './folder.ts';
import { buildReport, type BatchReport } from './report.ts';

export interface RefusedPlace {
  out: string | undefined;
  cwd: string;
  /** As given. */
  shard: string | undefined;
}

/** The report of a batch of which nothing but its mistake is known: code 2. */
export function refusedReport(message: string): BatchReport {
  const now_ms = SYSTEM_CLOCK.now();
  const facts = { runs: [], not_started: [], problems: [message], codes: [2] };
  return buildReport({ ...facts, started_ms: now_ms, finished_ms: now_ms });
}

/**
 * Leaves it in the folder named with `--out`, and in the default one only in the place of an older report. Without a
 * shard that can be read nobody can tell whose report it would be. Does not throw for a folder that cannot be taken.
 */
export function recordRefused(report: BatchReport, { out, cwd, shard: text }: RefusedPlace): void {
  const shard = text === undefined ? undefined : parseShard(text);
  if (text !== undefined && !shard) return;
  const place = { out, cwd, ...(shard ? { shard } : {}) };
  if (out === undefined && !existsSync(resolve(cwd, RESULTS_FOLDER, reportName(shard)))) return;
  try {
    const folder = openBatchFolder(place);
    try {
      const whole = { ...report, ...(shard ? { shard } : {}) };
      writeAtomically(folder.dir, folder.report, `${JSON.stringify(whole, null, 2)}\n`);
    } finally {
      folder.release();
    }
  } catch (error) {
    // UsageError: somebody else's folder, or one in which a batch is alive. ENOSPC and its like: stderr has said it.
    if (!(error instanceof UsageError) && !(error instanceof Error && 'code' in error)) throw error;
  }
}
