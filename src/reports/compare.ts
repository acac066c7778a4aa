import type { Finding } from '../core/findings.ts';
import type { RunRecord } from './run-record.ts';
import type { RunResult } from './run-result.ts';

/** One run as a comparison shows it. */
export interface Side {
  run_dir: string;
  run_id: string;
  task: string;
  status: string;
  exit_reason: string;
  exit_code: number;
  message: string;
  model: string;
  turns: number;
  total_input_tokens: number;
  total_output_tokens: number;
  /** USD; null: unknown. */
  cost_usd: number | null;
  duration_ms: number;
  tool_calls: number;
  denials: number;
  /** Null: not known, since its output has no list of them. */
  findings: number | null;
}

export interface ToolPair {
  a: { calls: number; denied: number; failed: number };
  b: { calls: number; denied: number; failed: number };
}

export interface DeniedCall {
  tool: string;
  rule: string | null;
  reason: string;
}

export interface Comparison {
  schema_version: 1;
  a: Side;
  b: Side;
  /** Not comparable when those of a run are not known; then the lists are empty. */
  findings: { new: Finding[]; gone: Finding[]; same: number; comparable: boolean };
  denials: { a: DeniedCall[]; b: DeniedCall[] };
  tools: Record<string, ToolPair>;
}

/** A run whose result could be read. */
export type EndedRun = RunRecord & { result: RunResult };

/** Two runs side by side; findings are the same when level, path and title are, or without a title the message. */
export function compareRuns(a: EndedRun, b: EndedRun): Comparison {
  const known = a.has_findings && b.has_findings;
  const gone = known ? without(a.findings, b.findings) : [];
  return {
    schema_version: 1,
    a: sideOf(a),
    b: sideOf(b),
    findings: {
      new: known ? without(b.findings, a.findings) : [],
      gone,
      same: known ? a.findings.length - gone.length : 0,
      comparable: known,
    },
    denials: { a: a.result.denials.map(deniedOf), b: b.result.denials.map(deniedOf) },
    tools: toolsOf(a.result, b.result),
  };
}

function sideOf({ run_dir, result, findings, has_findings }: EndedRun): Side {
  const { run_id, task, status, exit_reason, exit_code, message, model, turns, usage } = result;
  return {
    run_dir,
    run_id,
    task: task.name,
    status,
    exit_reason,
    exit_code,
    message,
    model,
    turns,
    total_input_tokens: usage.total_input_tokens,
    total_output_tokens: usage.total_output_tokens,
    cost_usd: usage.cost_usd,
    duration_ms: result.duration_ms,
    tool_calls: result.tool_calls.total,
    denials: result.denials.length,
    findings: has_findings ? findings.length : null,
  };
}

function deniedOf(denial: RunResult['denials'][number]): DeniedCall {
  return { tool: denial.tool, rule: denial.rule, reason: denial.reason };
}

/** What the first list has and the second has not; two of a kind are two. */
function without(list: readonly Finding[], other: readonly Finding[]): Finding[] {
  const left = new Map<string, number>();
  for (const finding of other) left.set(keyOf(finding), (left.get(keyOf(finding)) ?? 0) + 1);
  return list.filter((finding) => {
    const count = left.get(keyOf(finding)) ?? 0;
    left.set(keyOf(finding), count - 1);
    return count <= 0;
  });
}

/** Lines move when code above them changes, and a model words a message anew each time. */
function keyOf({ level, path, title, message }: Finding): string {
  return JSON.stringify([level, path, title ?? message]);
}

function toolsOf(a: RunResult, b: RunResult): Record<string, ToolPair> {
  const names = [...new Set([...Object.keys(a.usage.tools), ...Object.keys(b.usage.tools)])].sort();
  return Object.fromEntries(names.map((name) => [name, { a: countsOf(a, name), b: countsOf(b, name) }]));
}

function countsOf(result: RunResult, name: string): ToolPair['a'] {
  const tools = result.usage.tools;
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  return { calls: tool?.calls ?? 0, denied: tool?.denied ?? 0, failed: tool?.failed ?? 0 };
}
