import { markdownCode, markdownCut, markdownInlineCode, markdownText } from '../core/sanitise.ts';
import { afterReason } from '../subscribers/end-line.ts';
import { showCount, showMany, showSpan, showUsd } from '../core/figures.ts';
import { limitsText } from '../subscribers/limit-text.ts';
import { oneLine } from '../subscribers/one-line.ts';
import { readFindings } from '../core/findings.ts';
import type { FindingsMap } from '../core/config.ts';
import type { Finding } from '../core/findings.ts';
import type { ResultFile } from './result.ts';

/** A step summary above this is dropped by GitHub with an error (field report B139). */
export const MAX_SUMMARY_BYTES = 1_000_000;

const MAX_FINDINGS = 500;
const MAX_ROWS = 50;
const CELL = 2000;

export interface SummaryOptions {
  /** The command to try next; null: none. */
  next: string | null;
  /** Where findings stand in the output; absent: the output is shown as it is. */
  findings?: FindingsMap | undefined;
  /** What the page may still take, when something is already on it. */
  max_bytes?: number;
}

/** The page for the step summary: verdict, cause and next command first, then the output and what the run used. All texts are escaped. */
export function buildSummary(result: ResultFile, options: SummaryOptions): string {
  const max_bytes = Math.min(options.max_bytes ?? MAX_SUMMARY_BYTES, MAX_SUMMARY_BYTES);
  const head = headLine(result, options.next);
  const rest = [warnings(result), usage(result), denials(result), verify(result), facts(result)].flat().join('\n\n');
  // The output gives way first: what it cost and what went wrong must not fall off the end of a long one.
  const room = max_bytes - Buffer.byteLength(`${head}\n\n\n\n${rest}\n`);
  const body = output(result, options.findings).join('\n\n');
  const shown = markdownCut(body, Math.max(200, room), cutNote(result));
  return markdownCut(`${[head, shown, rest].filter((part) => part !== '').join('\n\n')}\n`, max_bytes, cutNote(result));
}

/** Verdict, cause and the command to try next, on one line. */
export function headLine(result: ResultFile, next: string | null): string {
  const verdict = `**${markdownText(result.task.name)}: ${result.status}** (\`${result.exit_reason}\`, exit code ${result.exit_code})`;
  const cause = markdownText(afterReason(result.exit_reason, result.message));
  const advice = next === null || result.exit_code === 0 ? '' : ` Next: ${markdownInlineCode(next)}`;
  return `${verdict}${cause}${advice}`;
}

function cutNote(result: ResultFile): string {
  const file = result.artifacts['output'] ?? 'result.json';
  return `*Cut here: the whole is in ${markdownInlineCode(file)} of the run folder.*`;
}

function output(result: ResultFile, map: FindingsMap | undefined): string[] {
  const { output: value, output_errors } = result;
  if (value === null && result.artifacts['output'] === undefined) {
    const errors = output_errors.slice(0, MAX_ROWS).map(({ pointer, message }) => [pointer || '(root)', message]);
    return errors.length > 0 ? ['## Output errors', table(['Where', 'What'], errors)] : [];
  }
  const findings = map ? readFindings(value, map) : null;
  if (findings) return findingsTable(findings);
  const isText = typeof value === 'string';
  return ['## Output', isText ? markdownCode(value) : markdownCode(JSON.stringify(value, null, 2), 'json')];
}

function findingsTable(findings: readonly Finding[]): string[] {
  if (findings.length === 0) return ['## Findings', 'None.'];
  const rows = findings
    .slice(0, MAX_FINDINGS)
    .map((finding) => [finding.level, placeText(finding), finding.title ?? '', finding.message ?? '']);
  const more = findings.length - rows.length;
  return [
    `## Findings (${showCount(findings.length)})`,
    table(['Level', 'Where', 'What', 'Message'], rows),
    ...(more > 0 ? [`${showMany(more, 'more finding')} in the output file.`] : []),
  ];
}

/** "src/a.ts:3-5", '' without a path and a line. */
export function placeText({ path, line, end_line }: Finding): string {
  const lines = line === null ? '' : `:${line}${end_line === null || end_line === line ? '' : `-${end_line}`}`;
  return `${path ?? ''}${lines}`;
}

function warnings({ warnings: all }: ResultFile): string[] {
  const shown = all.slice(0, MAX_ROWS).map((text) => `- ${markdownText(oneLine(text, CELL))}`);
  return shown.length > 0 ? ['## Warnings', shown.join('\n')] : [];
}

function usage({ usage: used, duration_ms }: ResultFile): string[] {
  const input = `${showCount(used.total_input_tokens)} (${showCount(used.total_cache_read_input_tokens)} from the cache)`;
  const output = `${showCount(used.total_output_tokens)}${used.estimated ? ' (estimated)' : ''}`;
  const header = ['Turns', 'Requests', 'Tokens in', 'Tokens out', 'Cost', 'Time'];
  const counts = [showCount(used.turns), `${showCount(used.requests)} (retries: ${showCount(used.retries)})`];
  return ['## Usage', table(header, [[...counts, input, output, showUsd(used.cost_usd), showSpan(duration_ms)]])];
}

function denials({ denials: all }: ResultFile): string[] {
  if (all.length === 0) return [];
  const rows = all.slice(0, MAX_ROWS).map(({ tool, rule, reason }) => [tool, rule ?? 'none', reason]);
  return [`## Denied calls (${all.length})`, table(['Tool', 'Rule', 'Why'], rows)];
}

function verify({ verify: all, gate }: ResultFile): string[] {
  const rows = all
    .slice(-MAX_ROWS)
    .map((run) => [
      run.command,
      run.ok ? 'ok' : run.timed_out ? 'timed out' : `exit code ${run.exit_code ?? 'none'}`,
      showSpan(run.duration_ms),
    ]);
  const failed = all.findLast((run) => !run.ok && run.output.trim() !== '');
  const issues =
    gate && !gate.ok ? gate.issues.slice(0, MAX_ROWS).map((issue) => [issue.pointer || '(root)', issue.message]) : [];
  return [
    ...(rows.length > 0 ? ['## Verify', table(['Command', 'Result', 'Time'], rows)] : []),
    ...(failed ? [markdownCode(failed.output)] : []),
    ...(gate ? [`## Gate: ${gate.ok ? 'passed' : 'failed'}`] : []),
    ...(issues.length > 0 ? [table(['Where', 'What'], issues)] : []),
  ];
}

function facts(result: ResultFile): string[] {
  const { sandbox, version } = result.runner;
  const running = sandbox.mode === 'off' ? 'off' : sandbox.active;
  const lines = [
    ['Limits', limitsText(result.limits)],
    ['Sandbox', `sandbox: ${running}${sandbox.detail ? ` (${sandbox.detail})` : ''}`],
    ['Model', `${result.provider}/${result.model}`],
    ['Run', `${result.run_id}, agent-run ${version}`],
  ] as const;
  return ['## Run', lines.map(([name, text]) => `- ${name}: ${markdownInlineCode(text)}`).join('\n')];
}

/** Cells are texts of others: escaped, one line each. */
function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => markdownText(cell.slice(0, CELL).trim())).join(' | ')} |`;
  return [line(header), `|${' --- |'.repeat(header.length)}`, ...rows.map(line)].join('\n');
}
