import { type Finding } from '../core/findings.ts';
import { worstCode } from '../core/outcome.ts';
import type { Collection } from './collect.ts';
import type { RunRecord } from './run-record.ts';
import type { RunResult } from './run-result.ts';

export interface Totals {
  runs: number;
  success: number;
  failure: number;
  cancelled: number;
  exit_code: number;
  turns: number;
  total_input_tokens: number;
  total_output_tokens: number;
  /** USD; null as soon as one run's cost is not known. */
  cost_usd: number | null;
  duration_ms: number;
  findings: number;
}

/** Code of a folder whose run cannot be told: killed, or not readable (contract, section 2: the machine). */
const UNKNOWN_END = 1;
/** Sums over the runs that ended. What could not be reported makes the worst code at least that of a failed machine. */
export function totalsOf({ runs, problems, not_started }: Collection): Totals {
  const results = runs.flatMap(({ result }) => (result ? [result] : []));
  const sum = (pick: (result: RunResult) => number): number =>
    results.reduce((total, result) => total + pick(result), 0);
  const codes = results.map(({ exit_code }) => exit_code);
  const unknown = problems.length > 0 || runs.some(({ result }) => result === null);
  const worst = worstCode([...codes, ...(unknown ? [UNKNOWN_END] : [])]);
  const costs = results.map(({ usage }) => usage.cost_usd);
  return {
    runs: results.length,
    success: results.filter(({ status }) => status === 'success').length,
    failure: results.filter(({ status }) => status === 'failure').length,
    cancelled: results.filter(({ status }) => status === 'cancelled').length,
    // Why a batch left a task out is the code of another run; without that run it still is no success.
    exit_code: worst === 0 && not_started.length > 0 ? UNKNOWN_END : worst,
    turns: sum(({ turns }) => turns),
    total_input_tokens: sum(({ usage }) => usage.total_input_tokens),
    total_output_tokens: sum(({ usage }) => usage.total_output_tokens),
    cost_usd: costs.includes(null) ? null : costs.reduce<number>((total, cost) => total + (cost ?? 0), 0),
    duration_ms: sum(({ duration_ms }) => duration_ms),
    findings: runs.reduce((total, { findings }) => total + findings.length, 0),
  };
}

/** What a run warns of; of a run that did not say so itself, that its findings are not where its task says. */
export function warningsOf({ result, lost_findings: lost }: RunRecord): string[] {
  const own = result?.warnings ?? [];
  return lost === null || own.includes(lost) ? own : [...own, lost];
}

/** Where a finding stands, as people write it: `src/a.ts:3-5`; '' without a path. */
export function placeOf({ path, line, end_line }: Finding): string {
  const lines = line === null ? '' : `:${line}${end_line === null || end_line <= line ? '' : `-${end_line}`}`;
  return path === null ? '' : `${path}${lines}`;
}
