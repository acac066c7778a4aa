import { columnsOf, padColumns, shortened } from '../core/graphemes.ts';
import { showCount, showSpan, showUsd } from '../core/figures.ts';
import { showControls } from '../core/sanitise.ts';
import { placeOf } from './totals.ts';
import type { Finding } from '../core/findings.ts';
import type { Comparison, Side, ToolPair } from './compare.ts';
import type { Verdict } from './thresholds.ts';

const MAX_LISTED = 50;
const MAX_CELL = 60;
const MAX_LINE = 300;

/** A comparison as lines for a terminal: a table, then what differs, then the thresholds. */
export function compareText(comparison: Comparison, verdicts: readonly Verdict[]): string {
  const lines = [
    ...tableLines([['', 'A', 'B', 'change'], ...rows(comparison)]),
    ...tools(comparison),
    ...findings('new findings', '+', comparison.findings.new),
    ...findings('findings that are gone', '-', comparison.findings.gone),
    ...denials(comparison),
    ...(verdicts.length > 0 ? ['', 'thresholds'] : []),
    ...verdicts.map(({ ok, name, message }) => `  ${ok ? 'ok  ' : 'over'} ${name}: ${plain(message, MAX_LINE)}`),
  ];
  return `${lines.join('\n')}\n`;
}

function rows({ a, b }: Comparison): string[][] {
  const text = (name: string, pick: (side: Side) => string): string[] => [
    name,
    pick(a),
    pick(b),
    pick(a) === pick(b) ? '' : 'differs',
  ];
  const count = (
    name: string,
    pick: (side: Side) => number | null,
    show: (value: number) => string = showCount,
  ): string[] => [name, shown(pick(a), show), shown(pick(b), show), change(pick(a), pick(b), show)];
  return [
    text('run', (side) => side.run_id),
    text('task', (side) => side.task),
    text('verdict', (side) => `${side.status} (${side.exit_reason}, ${side.exit_code})`),
    text('model', (side) => side.model),
    count('findings', (side) => side.findings),
    count('cost', (side) => side.cost_usd, showUsd),
    count('turns', (side) => side.turns),
    count('tokens in', (side) => side.total_input_tokens),
    count('tokens out', (side) => side.total_output_tokens),
    count('tool calls', (side) => side.tool_calls),
    count('denied calls', (side) => side.denials),
    count('time', (side) => side.duration_ms, showSpan),
  ];
}

function shown(value: number | null, show: (value: number) => string): string {
  return value === null ? 'unknown' : show(value);
}

function change(a: number | null, b: number | null, show: (value: number) => string): string {
  if (a === null || b === null) return 'unknown';
  if (a === b) return '';
  const sign = b > a ? '+' : '-';
  const share = a > 0 ? ` (${sign}${Number(((Math.abs(b - a) / a) * 100).toFixed(1))}%)` : '';
  return `${sign}${show(Math.abs(b - a))}${share}`;
}

function tools({ tools: pairs }: Comparison): string[] {
  const entries = Object.entries(pairs);
  if (entries.length === 0) return [];
  const cell = ({ calls, denied, failed }: ToolPair['a']): string =>
    [`${calls}`, ...(denied > 0 ? [`${denied} denied`] : []), ...(failed > 0 ? [`${failed} failed`] : [])].join(', ');
  const lines = entries.slice(0, MAX_LISTED).map(([name, { a, b }]) => {
    return [name, cell(a), cell(b), change(a.calls, b.calls, showCount)];
  });
  return ['', ...tableLines([['calls of', 'A', 'B', 'change'], ...lines]), ...more(entries.length)];
}

function findings(title: string, mark: string, list: readonly Finding[]): string[] {
  if (list.length === 0) return [];
  const lines = list.slice(0, MAX_LISTED).map((finding) => {
    const what = [placeOf(finding), finding.title ?? '', finding.message ?? '']
      .filter((part) => part !== '')
      .join(': ');
    return `  ${mark} ${finding.level} ${plain(what, MAX_LINE)}`;
  });
  return ['', `${title}: ${list.length}`, ...lines, ...more(list.length)];
}

function denials({ denials: { a, b } }: Comparison): string[] {
  const lines = (side: string, list: Comparison['denials']['a']): string[] => [
    ...list.slice(0, MAX_LISTED).map(({ tool, reason }) => `  ${side} ${plain(`${tool}: ${reason}`, MAX_LINE)}`),
    ...more(list.length),
  ];
  return a.length + b.length === 0 ? [] : ['', 'denied calls', ...lines('A', a), ...lines('B', b)];
}

function more(count: number): string[] {
  return count > MAX_LISTED ? [`  ... and ${count - MAX_LISTED} more`] : [];
}

function tableLines(cells: readonly (readonly string[])[]): string[] {
  const shownCells = cells.map((row) => row.map((cell) => plain(cell, MAX_CELL)));
  const widths = [0, 1, 2].map((column) => Math.max(...shownCells.map((row) => columnsOf(row[column] ?? ''))));
  return shownCells.map((row) =>
    row
      .map((cell, column) => padColumns(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function plain(text: string, longest: number): string {
  const line = showControls(text.slice(0, longest * 2).replaceAll(/\s+/g, ' '), true).trim();
  return shortened(line, longest);
}
