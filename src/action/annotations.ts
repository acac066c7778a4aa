// Findings of a valid output as annotations: the task says where in the output they stand.

import type { FindingsMap } from '../core/config.ts';
import { isJsonObject, type JsonValue } from '../core/json.ts';
import { showControls } from '../core/sanitise.ts';

export type Level = 'error' | 'warning' | 'notice';

export interface Annotation {
  level: Level;
  message: string;
  title?: string;
  path?: string;
  line?: number;
  end_line?: number;
}

/** GitHub shows ten of each level a step and drops the others. */
export const SHOWN_PER_LEVEL = 10;

/** What to annotate, and how many findings are left out because GitHub would not show them. */
export function annotationsOf(output: JsonValue, map: FindingsMap): { shown: Annotation[]; left_out: number } {
  const items = valueAt(output, map.items);
  const all = (Array.isArray(items) ? items : []).map((item) => annotation(item, map));
  const seen: Record<Level, number> = { error: 0, warning: 0, notice: 0 };
  const shown = all.filter(({ level }) => (seen[level] += 1) <= SHOWN_PER_LEVEL);
  return { shown, left_out: all.length - shown.length };
}

function annotation(item: JsonValue, map: FindingsMap): Annotation {
  const text = (pointer: string | undefined): string =>
    textOf(pointer === undefined ? undefined : valueAt(item, pointer));
  const line = lineOf(text(map.line));
  const end_line = lineOf(text(map.end_line));
  const title = text(map.title);
  const path = text(map.path);
  return {
    level: levelOf(text(map.level), map.levels ?? {}),
    message: text(map.message) || title || textOf(item) || 'a finding without a message',
    ...(title === '' ? {} : { title }),
    ...(path === '' ? {} : { path: path.replace(/^\.\//, '') }),
    ...(path === '' || line === undefined ? {} : { line }),
    ...(path === '' || end_line === undefined || line === undefined || end_line < line ? {} : { end_line }),
  };
}

function levelOf(word: string, levels: Record<string, string>): Level {
  const level = (Object.hasOwn(levels, word) ? levels[word] : word)?.toLowerCase();
  return level === 'error' || level === 'notice' ? level : 'warning';
}

function lineOf(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return showControls(value.replaceAll(/\r\n?/g, '\n'));
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** The value a JSON pointer leads to, own keys only. */
function valueAt(value: JsonValue, pointer: string): JsonValue | undefined {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.reduce<JsonValue | undefined>((at, key) => {
    if (Array.isArray(at)) return at[/^\d+$/.test(key) ? Number(key) : -1];
    return isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }, value);
}
