// Mistakes found in a file, and the one exception that names all of them with their lines and columns.

import { formatPlace, type Place, UsageError } from '../core/errors.ts';
import { headOf } from '../core/graphemes.ts';
import type { Source } from './source.ts';

export interface Issue {
  /** JSON pointer of the value, '' for the whole file. */
  pointer: string;
  message: string;
  /** Point at the key instead of the value. */
  at?: 'key';
  /** What the same command lacks, where nothing is wrong with the file. */
  args?: string;
}

const SHOWN_ISSUES = 5;
const SHOWN_CHARACTERS = 80;

// What people paste into the wrong field. The value is named, so that it can be found, but never printed.
const TOKEN = /\b(?:sk-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|eyJ)[A-Za-z0-9_.+/=-]{8,}/g;
const HIDDEN_FIELDS = /\/(?:api_key_env|headers_env\/[^/]*)$/;

/** The value as a message shows it: JSON, cut, with anything that looks like a key hidden. */
export function showValue(value: unknown, pointer = ''): string {
  if (typeof value === 'number') return String(value);
  const text = (JSON.stringify(value) ?? String(value)).replaceAll(TOKEN, (token) => `${token.slice(0, 4)}…`);
  if (HIDDEN_FIELDS.test(pointer) && typeof value === 'string') return `${text.slice(0, 5)}…"`;
  return text.length > SHOWN_CHARACTERS ? `${headOf(text, SHOWN_CHARACTERS)}…` : text;
}

/** One UsageError that shows the first issues in the order of the file, each with line and column. */
export async function issuesError(source: Source, issues: readonly Issue[]): Promise<UsageError> {
  const { openPositions } = await import('./positions.ts');
  const positions = await openPositions(source);
  const placed = issues.map((issue) => ({ issue, ...positions(issue.pointer, issue.at === 'key') }));
  placed.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
  const [first, ...others] = placed.map(({ issue, line, column }) => ({
    message: issue.message,
    place: placeOf(source.file, issue.pointer, line, column),
  }));
  const shown = others.slice(0, SHOWN_ISSUES - 1).map(({ message, place }) => `\n${formatPlace(place)}: ${message}`);
  const rest = others.length - shown.length;
  const message = `${first?.message ?? ''}${shown.join('')}${rest > 0 ? `\nand ${rest} more` : ''}`;
  const args = issues.flatMap((issue) => issue.args ?? []);
  // One mistake of the file among them, and the file is what to look at next.
  const next = args.length === issues.length ? { next: { args: args.join(' ') } } : {};
  return new UsageError(message, { place: first?.place ?? { file: source.file }, ...next });
}

function placeOf(file: string, pointer: string, line?: number, column?: number): Place {
  return {
    file,
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
    ...(pointer === '' ? {} : { pointer }),
  };
}
