// The form of report.json: what became of each run, and sums.

import { readFindings, type Finding } from '../core/findings.ts';
import type { FindingsMap } from '../core/config.ts';
import type { JsonValue } from '../core/json.ts';
import { type ExitReason, type RunStatus, worstCode } from '../core/outcome.ts';
import type { ResultFile } from '../run/result.ts';
import type { Shard } from '../config/batch-options.ts';

export const REPORT_VERSION = 1;

export interface ReportRun {
  /** Relative to the report's folder. */
  run_dir: string;
  run_id: string;
  task: string;
  file: string;
  status: RunStatus;
  exit_reason: ExitReason;
  exit_code: number;
  message: string;
  model: string;
  turns: number;
  total_input_tokens: number;
  total_output_tokens: number;
  cost_usd: number | null;
  duration_ms: number;
  tool_calls: number;
  denials: number;
  warnings: readonly string[];
  output: JsonValue;
  findings: readonly (Omit<Finding, 'message'> & { message: string })[];
  carried?: true;
}

export interface NotStarted {
  task: string;
  file: string;
  reason: 'cancelled' | 'fail_fast';
  message: string;
}

export interface BatchReport {
  schema_version: number;
  runs: readonly ReportRun[];
  totals: {
    runs: number;
    success: number;
    failure: number;
    cancelled: number;
    exit_code: number;
    turns: number;
    total_input_tokens: number;
    total_output_tokens: number;
    cost_usd: number | null;
    duration_ms: number;
    findings: number;
  };
  shard?: Shard;
  not_started: readonly NotStarted[];
  problems: readonly string[];
  started_at: string;
  finished_at: string;
}

export interface ReportFacts {
  runs: readonly ReportRun[];
  not_started: readonly NotStarted[];
  problems: readonly string[];
  shard?: Shard;
  /** Codes of what is no run: a signal, a problem. */
  codes: readonly number[];
  started_ms: number;
  finished_ms: number;
}

/** One run of a report, from its result. */
export function reportRun(result: ResultFile, run_dir: string, findings?: FindingsMap): ReportRun {
  const { usage } = result;
  const found = findings ? (readFindings(result.output, findings) ?? []) : [];
  return {
    run_dir,
    run_id: result.run_id,
    task: result.task.name,
    file: result.task.file,
    status: result.status,
    exit_reason: result.exit_reason,
    exit_code: result.exit_code,
    message: result.message,
    model: result.model,
    turns: result.turns,
    total_input_tokens: usage.total_input_tokens,
    total_output_tokens: usage.total_output_tokens,
    cost_usd: usage.cost_usd,
    duration_ms: result.duration_ms,
    tool_calls: result.tool_calls.total,
    denials: result.denials.length,
    warnings: result.warnings,
    output: result.output,
    findings: found.map((finding) => ({ ...finding, message: finding.message ?? '' })),
  };
}

/** The whole report; runs stand in the order of their names, whichever ended first. */
export function buildReport(facts: ReportFacts): BatchReport {
  const runs = [...facts.runs].sort((one, other) => (one.task < other.task ? -1 : 1));
  const { shard, not_started, problems } = facts;
  const sum = (read: (run: ReportRun) => number): number => runs.reduce((total, run) => total + read(run), 0);
  const count = (status: RunStatus): number => runs.filter((run) => run.status === status).length;
  return {
    schema_version: REPORT_VERSION,
    runs,
    totals: {
      runs: runs.length,
      success: count('success'),
      failure: count('failure'),
      cancelled: count('cancelled'),
      exit_code: worstCode([...runs.map(({ exit_code }) => exit_code), ...facts.codes]),
      turns: sum(({ turns }) => turns),
      total_input_tokens: sum((run) => run.total_input_tokens),
      total_output_tokens: sum((run) => run.total_output_tokens),
      cost_usd: runs.some(({ cost_usd }) => cost_usd === null) ? null : sum(({ cost_usd }) => cost_usd ?? 0),
      duration_ms: sum(({ duration_ms }) => duration_ms),
      findings: sum(({ findings }) => findings.length),
    },
    ...(shard ? { shard } : {}),
    not_started,
    problems,
    started_at: new Date(facts.started_ms).toISOString(),
    finished_at: new Date(facts.finished_ms).toISOString(),
  };
}
