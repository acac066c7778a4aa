// The hidden first line of our comments: whose it is and which run wrote it.

import { isJsonObject, parseJson } from '../core/json.ts';

export interface Marker {
  task: string;
  /** As given in the step: what a run that never read its task knows of it. */
  file: string;
  key: string;
  /** One of many, which is never updated. */
  sticky: boolean;
  /** The workflow run that it speaks for; '' outside of one. */
  run: string;
  attempt: number;
  /** When the run ended, ISO 8601. */
  at: string;
  /** The run's own id. */
  id: string;
}

const BEGIN = '<!-- agent-run ';
const END = ' -->';
const TEXTS = ['task', 'file', 'key', 'run', 'at', 'id'] as const;

/** The line that begins a comment; no text in it can end the HTML comment. */
export function markerLine(marker: Marker): string {
  const json = JSON.stringify(marker).replaceAll(
    /[^\x20-\x7e]|[<>&-]/g,
    (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${BEGIN}${json}${END}`;
}

/** The marker of a comment's text; undefined when it does not begin with one. What follows the first line is a stranger's and cannot be one. */
export function readMarker(body: string): Marker | undefined {
  const [line = ''] = body.split(/\r?\n/, 1);
  if (!line.startsWith(BEGIN) || !line.endsWith(END)) return undefined;
  const parsed = parseJson(line.slice(BEGIN.length, -END.length));
  const value = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  const texts = TEXTS.map((name) => value[name]);
  const { attempt, sticky } = value;
  if (!texts.every((text) => typeof text === 'string')) return undefined;
  if (typeof attempt !== 'number' || typeof sticky !== 'boolean') return undefined;
  const [task = '', file = '', key = '', run = '', at = '', id = ''] = texts;
  return { task, file, key, run, at, id, attempt, sticky };
}

/** Above 0 when `a` speaks for a later run than `b`: GitHub counts runs upwards, and a run anew is an attempt of the same. */
export function compareMarkers(a: Marker, b: Marker): number {
  const [left, right] = [a, b].map(({ run }) => (/^\d{1,30}$/.test(run) ? BigInt(run) : undefined));
  if (left !== undefined && right !== undefined && left !== right) return left > right ? 1 : -1;
  if (left !== undefined && right !== undefined && a.attempt !== b.attempt) return a.attempt - b.attempt;
  return Math.sign(Date.parse(a.at) - Date.parse(b.at)) || 0;
}
