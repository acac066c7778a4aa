import type { JsonValue } from '../core/json.ts';
import type { Finding } from '../core/findings.ts';
import { totalsOf, warningsOf } from './totals.ts';
import type { Collection } from './collect.ts';
import type { RunRecord } from './run-record.ts';

/** The report as data, in the form of schemas/report.schema.json. */
export function jsonReport(collection: Collection): JsonValue {
  const { runs, not_started, problems } = collection;
  const report = {
    schema_version: 1,
    runs: runs.flatMap((record) => runOf(record)),
    totals: totalsOf(collection),
    ...(not_started.length > 0 ? { not_started } : {}),
    ...(problems.length > 0 ? { problems } : {}),
  };
  return report as unknown as JsonValue; // made of nothing but JSON values
}

/** A run that never ended has no row: it stands under `problems`. */
function runOf(record: RunRecord): object[] {
  const { run_dir, result, findings } = record;
  if (result === null) return [];
  const { run_id, status, exit_reason, exit_code, message, model, turns, usage, duration_ms, output } = result;
  const row = {
    run_dir,
    run_id,
    task: result.task.name,
    file: result.task.file,
    status,
    exit_reason,
    exit_code,
    message,
    model,
    turns,
    total_input_tokens: usage.total_input_tokens,
    total_output_tokens: usage.total_output_tokens,
    cost_usd: usage.cost_usd,
    duration_ms,
    tool_calls: result.tool_calls.total,
    denials: result.denials.length,
    warnings: warningsOf(record),
    output,
    findings: findings.map(findingOf),
  };
  return [row];
}

function findingOf({ message, ...finding }: Finding): object {
  return { ...finding, message: message ?? '' };
}
