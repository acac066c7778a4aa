// A report that stdout did not take: the batch is no better than what its reader got of it.

import { basename, dirname } from 'node:path';
import { worstCode } from '../core/outcome.ts';
import { writeAtomically } from '../run/artifacts.ts';
import type { BatchReport } from './report.ts';

export interface Loss {
  /** 1, or that of the signal that ended the waiting. */
  code: number;
  problem: string;
  /** Absolute path of the report; absent: there is none. */
  file: string | undefined;
}

/** The report with the loss as its last problem, and the same in its file if that can be written. */
export function recordLoss(report: BatchReport, { code, problem, file }: Loss): BatchReport {
  const { totals } = report;
  const exit_code = worstCode([totals.exit_code, code]);
  const whole = { ...report, totals: { ...totals, exit_code }, problems: [...report.problems, problem] };
  try {
    if (file !== undefined) writeAtomically(dirname(file), basename(file), `${JSON.stringify(whole, null, 2)}\n`);
  } catch {
    // ENOSPC and its like: the code and the line on stderr still say it.
  }
  return whole;
}
