// Findings of a valid output as annotations: what the runner takes, and no more than GitHub shows.

import type { FindingsMap } from '../core/config.ts';
import type { JsonValue } from '../core/json.ts';
import { breakCommands, showControls } from '../core/sanitise.ts';
import { type Finding, type FindingLevel, readFindings } from '../core/findings.ts';

export interface Annotation {
  level: FindingLevel;
  message: string;
  place: { title?: string; file?: string; startLine?: number; endLine?: number };
}

/** GitHub shows ten of each level a step and drops the others. */
export const SHOWN_PER_LEVEL = 10;

/** Annotations that the step itself needs, by level: GitHub counts them too. */
export type Taken = Partial<Record<FindingLevel, number>>;

/** What to annotate, and how many findings are left out because GitHub would not show them. A note of the latter has its place. */
export function annotationsOf(
  output: JsonValue,
  map: FindingsMap,
  taken: Taken = {},
): { shown: Annotation[]; left_out: number } {
  const all = (readFindings(output, map) ?? []).map(annotation);
  const shown = fitting(all, taken);
  if (shown.length === all.length) return { shown, left_out: 0 };
  const fewer = fitting(all, { ...taken, notice: (taken.notice ?? 0) + 1 });
  return { shown: fewer, left_out: all.length - fewer.length };
}

function fitting(all: readonly Annotation[], taken: Taken): Annotation[] {
  const seen = { error: 0, warning: 0, notice: 0, ...taken };
  return all.filter(({ level }) => (seen[level] += 1) <= SHOWN_PER_LEVEL);
}

function annotation({ level, path, line, end_line, title, message }: Finding): Annotation {
  const file = path === null ? '' : shown(path).replace(/^\.\//, '');
  const startLine = file === '' || line === null ? {} : { startLine: line };
  const endLine = file === '' || line === null || end_line === null || end_line < line ? {} : { endLine: end_line };
  const name = title === null ? '' : shown(title);
  const place = { ...(name === '' ? {} : { title: name }), ...(file === '' ? {} : { file }), ...startLine, ...endLine };
  return { level, message: shown(message ?? '') || name || 'a finding without a message', place };
}

function shown(text: string): string {
  return breakCommands(showControls(text.replaceAll(/\r\n?/g, '\n')));
}
