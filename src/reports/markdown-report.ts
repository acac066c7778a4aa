import { headOf } from '../core/graphemes.ts';
import { showCount, showMany, showSpan, showUsd } from '../core/figures.ts';
import { markdownCode, markdownCut, markdownInlineCode, markdownText } from '../core/sanitise.ts';
import { placeOf, totalsOf, warningsOf } from './totals.ts';
import type { Finding } from '../core/findings.ts';
import type { Collection } from './collect.ts';
import type { RunRecord } from './run-record.ts';
import type { RunResult } from './run-result.ts';

const MAX_FINDINGS = 200;
const MAX_ROWS = 50;
const MAX_CELL = 500;
const MAX_OUTPUT_BYTES = 20_000;

/** A page of Markdown in which every text of others is escaped: totals, a table of runs, then what each run has to say. */
export function markdownReport(collection: Collection): string {
  const { runs, problems, not_started } = collection;
  const parts = [
    `# ${headline(collection)}`,
    ...section(
      'Not reported',
      problems.map((problem) => [problem]),
      ['What'],
    ),
    ...section(
      'Not started',
      not_started.map(({ task, reason, message }) => [task, reason, message]),
      ['Task', 'Why', 'Message'],
    ),
    ...(runs.length > 1 ? [table(RUN_HEADS, runs.map(runRow))] : []),
    ...runs.flatMap(runPart),
  ];
  return `${parts.join('\n\n')}\n`;
}

function headline(collection: Collection): string {
  const totals = totalsOf(collection);
  const counts = [
    `${totals.success} success`,
    ...(totals.failure > 0 ? [`${totals.failure} failure`] : []),
    ...(totals.cancelled > 0 ? [`${totals.cancelled} cancelled`] : []),
  ];
  return `${showMany(totals.runs, 'run')}: ${counts.join(', ')}; worst exit code ${totals.exit_code}; ${showUsd(totals.cost_usd)}`;
}

const RUN_HEADS = ['Task', 'Verdict', 'Findings', 'Turns', 'Tokens in', 'Tokens out', 'Cost', 'Time', 'Run'];

function runRow({ task, result, findings, lost_findings, run_dir }: RunRecord): string[] {
  if (result === null) return [task, 'unfinished', '', '', '', '', '', '', run_dir];
  const { usage } = result;
  return [
    task,
    `${result.status} (${result.exit_reason}, ${result.exit_code})`,
    lost_findings === null ? showCount(findings.length) : 'unknown',
    showCount(result.turns),
    showCount(usage.total_input_tokens),
    showCount(usage.total_output_tokens),
    showUsd(usage.cost_usd),
    showSpan(result.duration_ms),
    run_dir,
  ];
}

function runPart(record: RunRecord): string[] {
  const { task, result, problems } = record;
  if (result === null) return [`## ${markdownText(task)}: unfinished`, list(problems)];
  const verdict = `## ${markdownText(task)}: ${result.status} (\`${result.exit_reason}\`, exit code ${result.exit_code})`;
  const { usage } = result;
  const figures = [
    showMany(result.turns, 'turn'),
    `${showCount(usage.total_input_tokens)} tokens in, ${showCount(usage.total_output_tokens)} out`,
    showUsd(usage.cost_usd),
    showSpan(result.duration_ms),
    showMany(result.tool_calls.total, 'call'),
  ];
  return [
    verdict,
    ...(result.message.trim() === '' ? [] : [markdownText(headOf(result.message, 2000))]),
    `${figures.join(' · ')} · ${markdownInlineCode(result.run_id)}`,
    ...outputPart(record, result),
    ...section(
      'Warnings',
      warningsOf(record).map((text) => [text]),
      ['Warning'],
    ),
    ...section(
      'Denied calls',
      result.denials.map(({ tool, rule, reason }) => [tool, rule ?? 'none', reason]),
      ['Tool', 'Rule', 'Why'],
    ),
  ];
}

function outputPart({ findings, has_findings }: RunRecord, { output }: RunResult): string[] {
  if (has_findings) {
    if (findings.length === 0) return ['No findings.'];
    const rows = findings.slice(0, MAX_FINDINGS).map(findingRow);
    return section(
      `Findings (${showCount(findings.length)})`,
      rows,
      ['Level', 'Where', 'What', 'Message'],
      findings.length,
    );
  }
  if (output === null) return [];
  const code =
    typeof output === 'string' ? markdownCode(output) : markdownCode(JSON.stringify(output, null, 2), 'json');
  return ['### Output', markdownCut(code, MAX_OUTPUT_BYTES, '*Cut here: the whole is in the run folder.*')];
}

function findingRow(finding: Finding): string[] {
  return [finding.level, placeOf(finding), finding.title ?? '', finding.message ?? ''];
}

function section(title: string, rows: readonly string[][], heads: readonly string[], total = rows.length): string[] {
  if (rows.length === 0) return [];
  const most = title.startsWith('Findings') ? MAX_FINDINGS : MAX_ROWS;
  const more = total - Math.min(rows.length, most);
  return [`### ${title}`, table(heads, rows.slice(0, most)), ...(more > 0 ? [`${showCount(more)} more.`] : [])];
}

function list(texts: readonly string[]): string {
  return texts.map((text) => `- ${markdownText(headOf(text, 2000))}`).join('\n');
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => markdownText(headOf(cell, MAX_CELL).trim())).join(' | ')} |`;
  return [line(heads), `|${' --- |'.repeat(heads.length)}`, ...rows.map(line)].join('\n');
}
