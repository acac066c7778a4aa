import { cutMiddle } from '../core/cut.ts';
import { missedFindings } from '../core/findings.ts';
import { exitCode, runStatus } from '../core/outcome.ts';
import { limitText } from '../subscribers/limit-text.ts';
import { finalOutput } from './output.ts';
import type { RunState } from '../agent/state.ts';
import type { Limits, TaskConfig } from '../core/config.ts';
import type { GitState, RunStart } from '../core/events.ts';
import type { JsonValue } from '../core/json.ts';
import type { ExitReason, LimitHit, OutputIssue, RunOutcome, RunStatus } from '../core/outcome.ts';
import type { UsageReport } from '../subscribers/usage-report.ts';

export const RESULT_VERSION = 1;

/** What a verify command printed is cut to this in the result; the transcript has the rest. */
const VERIFY_OUTPUT_BYTES = 4096;

/** What the result says beside the state; a run that never started has an empty one. */
export interface ResultFacts {
  run_id: string;
  outcome: RunOutcome;
  /** What the run itself came to, where a file that could not be written made another outcome of it. */
  decided?: RunOutcome;
  message: string;
  state: RunState;
  task: TaskConfig;
  usage: UsageReport;
  runner: RunStart['runner'];
  started_ms: number;
  finished_ms: number;
  /** Names of the files that stand in the run folder, this one included. */
  files: readonly string[];
  /** What could not be written. */
  problems: readonly string[];
}

/** The form of result.json. */
export interface ResultFile {
  schema_version: number;
  run_id: string;
  task: { name: string; file: string; sha256: string; ref: string | null };
  status: RunStatus;
  exit_reason: ExitReason;
  exit_code: number;
  message: string;
  output: JsonValue;
  answers: readonly string[];
  output_errors: readonly OutputIssue[];
  limit_reached: LimitHit | null;
  limits: Limits;
  usage: Omit<UsageReport, 'schema_version' | 'run_id' | 'per_turn'>;
  turns: number;
  tool_calls: { total: number; denied: number; failed: number; timed_out: number };
  denials: { tool: string; tool_use_id: string; rule: string | null; reason: string; input_sha256: string }[];
  warnings: string[];
  verify: {
    command: string;
    ok: boolean;
    exit_code: number | null;
    timed_out: boolean;
    duration_ms: number;
    output: string;
  }[];
  gate: { ok: boolean; issues: readonly OutputIssue[] } | null;
  context: { label: string; bytes: number; omitted_bytes: number; notes: string[] }[];
  model: string;
  provider: string;
  git: GitState | null;
  resumed: boolean;
  started_at: string;
  finished_at: string;
  duration_ms: number;
  artifacts: Record<string, string>;
  runner: RunStart['runner'];
}

/** Keys of `artifacts` by file name. */
const ARTIFACT_KEYS: Record<string, string> = {
  'result.json': 'result',
  'output.json': 'output',
  'output.md': 'output',
  'transcript.jsonl': 'transcript',
  'usage.json': 'usage',
  'summary.md': 'summary',
  'changes.patch': 'patch',
  outputs: 'outputs',
  'verbose.log': 'verbose',
};

/** The whole result of a run, from its state and what only its end knows. */
export function buildResult(facts: ResultFacts): ResultFile {
  const { state, task, usage, outcome } = facts;
  return {
    schema_version: RESULT_VERSION,
    run_id: facts.run_id,
    task: { name: task.name, file: task.file, sha256: task.sha256, ref: task.ref },
    status: runStatus(outcome),
    exit_reason: outcome.reason,
    exit_code: exitCode(outcome),
    message: facts.message,
    ...outputFields(facts.decided ?? outcome, state),
    limit_reached: limitOf(outcome, state),
    limits: state.start?.task.limits ?? task.limits,
    usage: usageFields(usage),
    turns: usage.turns,
    tool_calls: state.tool_stats,
    denials: state.denied.map(({ rule, ...denial }) => ({ ...denial, rule: rule ?? null })),
    warnings: warningsOf(facts),
    verify: verifyFields(state),
    gate: state.gate_checked ? { ok: state.gate_checked.ok, issues: state.gate_checked.issues } : null,
    context: (state.start?.context ?? []).map(({ text: _text, ...part }) => part),
    model: task.model.id,
    provider: task.model.provider,
    git: state.start?.git ?? null,
    resumed: state.resumed,
    started_at: new Date(facts.started_ms).toISOString(),
    finished_at: new Date(facts.finished_ms).toISOString(),
    // A pause before a resume is not running time; without one the clock says it best.
    duration_ms: state.resumed ? usage.duration_ms : facts.finished_ms - facts.started_ms,
    artifacts: Object.fromEntries(facts.files.map((name) => [ARTIFACT_KEYS[name] ?? name, name])),
    runner: state.start?.runner ?? facts.runner,
  };
}

function outputFields(outcome: RunOutcome, state: RunState): Pick<ResultFile, 'output' | 'answers' | 'output_errors'> {
  const output = finalOutput(outcome, state);
  const last = outcome.reason === 'output_invalid' ? outcome.issues : (state.last_failed_check?.issues ?? []);
  return { output: output?.value ?? null, answers: state.answers, output_errors: output ? [] : last };
}

function limitOf(outcome: RunOutcome, state: RunState): LimitHit | null {
  if (state.limit_reached) return state.limit_reached;
  if (outcome.reason === 'completed') return outcome.limit_reached ?? null;
  return 'limit' in outcome && outcome.reason !== 'max_denials' ? outcome : null;
}

function usageFields(usage: UsageReport): ResultFile['usage'] {
  const { schema_version: _version, run_id: _run_id, per_turn: _rows, ...rest } = usage;
  return rest;
}

function warningsOf(facts: ResultFacts): string[] {
  const { outcome, state, problems } = facts;
  const early = outcome.reason === 'completed' ? outcome.limit_reached : undefined;
  const conclusion = early ? [`the run concluded early: ${limitText(early)}`] : [];
  return [...state.warnings, ...conclusion, ...lostFindings(facts), ...problems];
}

/** A list that is not where the task says must not look like one without findings. */
export function lostFindings({
  outcome,
  decided = outcome,
  state,
  task,
}: Pick<ResultFacts, 'outcome' | 'decided' | 'state' | 'task'>): string[] {
  const map = (state.start?.task ?? task).findings;
  const output = map && finalOutput(decided, state);
  const missed = output ? missedFindings(output.value, map) : null;
  return missed === null ? [] : [missed];
}

function verifyFields(state: RunState): ResultFile['verify'] {
  return state.verify_log.map(({ command, ok, exit_code, timed_out, duration_ms, output }) => ({
    command,
    ok,
    exit_code,
    timed_out,
    duration_ms,
    output: cutMiddle(output, VERIFY_OUTPUT_BYTES).text,
  }));
}
