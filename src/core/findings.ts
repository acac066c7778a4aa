import { isJsonObject } from './json.ts';
import type { FindingsMap } from './config.ts';
import type { JsonValue } from './json.ts';

export const FINDING_LEVELS = ['error', 'warning', 'notice'] as const;
export type FindingLevel = (typeof FINDING_LEVELS)[number];

/** One finding of an output; the texts are the model's. */
export interface Finding {
  level: FindingLevel;
  path: string | null;
  line: number | null;
  end_line: number | null;
  title: string | null;
  message: string | null;
}

/** The findings that a task's map points to; null when the output has no list there. */
export function readFindings(output: JsonValue, map: FindingsMap): Finding[] | null {
  const items = valueAt(output, map.items);
  return Array.isArray(items) ? items.map((item) => readFinding(item, map)) : null;
}

/** Why a map finds no list in an output, as one sentence without a word of the output; null when it finds one. */
export function missedFindings(output: JsonValue, { items }: FindingsMap): string | null {
  const found = valueAt(output, items);
  if (Array.isArray(found)) return null;
  const what = found === undefined ? 'names nothing in the output' : `names ${kindOf(found)} in the output, not a list`;
  return `findings.items: ${JSON.stringify(items)} ${what}, so how many findings there are is not known`;
}

function kindOf(value: Exclude<JsonValue, JsonValue[]>): string {
  if (value === null) return 'null';
  return typeof value === 'object' ? 'an object' : `a ${typeof value === 'string' ? 'text' : typeof value}`;
}

function readFinding(item: JsonValue, map: FindingsMap): Finding {
  const at = (pointer: string | undefined): JsonValue | undefined =>
    pointer === undefined ? undefined : valueAt(item, pointer);
  return {
    level: levelOf(at(map.level), map.levels ?? {}),
    path: text(at(map.path)),
    line: lineNumber(at(map.line)),
    end_line: lineNumber(at(map.end_line)),
    title: text(at(map.title)),
    message: text(at(map.message)),
  };
}

/** What the task does not map counts by its own name if that is a level, else as a warning: nothing gets lost or loud. */
function levelOf(value: JsonValue | undefined, levels: Record<string, string>): FindingLevel {
  const own = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  const mapped = Object.hasOwn(levels, own) ? levels[own] : own;
  return FINDING_LEVELS.find((level) => level === mapped) ?? 'warning';
}

function text(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function lineNumber(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}

/** The value a JSON pointer (RFC 6901) names, '' being the whole; undefined when there is none. */
export function valueAt(value: JsonValue, pointer: string): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(found)) found = /^(0|[1-9]\d*)$/.test(key) ? found[Number(key)] : undefined;
    else found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}
