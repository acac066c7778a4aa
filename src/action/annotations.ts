// Findings of a valid output as annotations: what the runner takes, and no more than GitHub shows.

import type { FindingsMap } from '../core/config.ts';
import type { JsonValue } from '../core/json.ts';
import { showControls } from '../core/sanitise.ts';
import { type Finding, type FindingLevel, readFindings } from '../core/findings.ts';

export interface Annotation {
  level: FindingLevel;
  message: string;
  place: { title?: string; file?: string; startLine?: number; endLine?: number };
}

/** GitHub shows ten of each level a step and drops the others. */
export const SHOWN_PER_LEVEL = 10;

/** What to annotate, and how many findings are left out because GitHub would not show them. */
export function annotationsOf(output: JsonValue, map: FindingsMap): { shown: Annotation[]; left_out: number } {
  const all = (readFindings(output, map) ?? []).map(annotation);
  const seen: Record<FindingLevel, number> = { error: 0, warning: 0, notice: 0 };
  const shown = all.filter(({ level }) => (seen[level] += 1) <= SHOWN_PER_LEVEL);
  return { shown, left_out: all.length - shown.length };
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
  return showControls(text.replaceAll(/\r\n?/g, '\n'));
}
