import { isDeepStrictEqual } from 'node:util';
import { bracketEnd, readJson, type JsonText } from './json-text.ts';

export type FoundJson =
  | { kind: 'one'; json: JsonText }
  | { kind: 'several'; count: number }
  /** There is none, or one that is broken or cut: nothing inside it is taken instead. */
  | { kind: 'none'; error: string };

const FENCE_OR_BRACKET = /^[ \t]*(`{3,}|~{3,})([^\n`]*)$|[{[]/gm;
const UNBALANCED_AT_MOST = 50;

/** The one JSON value of a text: the whole of it, a fenced block, or an object or list in prose. Never mends anything. */
export function findJson(text: string): FoundJson {
  const whole = readJson(text);
  if (whole.ok) return { kind: 'one', json: whole };
  const found = scan(text);
  if (typeof found === 'string') return { kind: 'none', error: found };
  const [first] = found;
  if (first === undefined) return { kind: 'none', error: whole.error };
  const different = found.filter((json, index) => !found.slice(0, index).some((earlier) => isSame(earlier, json)));
  return different.length > 1 ? { kind: 'several', count: different.length } : { kind: 'one', json: first };
}

interface Stretch {
  /** Where the search goes on. */
  end: number;
  json?: JsonText;
  error?: string;
}

/** All values of a text in order, or why one of them is broken. */
function scan(text: string): JsonText[] | string {
  const values: JsonText[] = [];
  let unbalanced = 0;
  const pattern = new RegExp(FENCE_OR_BRACKET);
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const fence = match[1];
    const stretch =
      fence === undefined
        ? readBrackets(text, match.index)
        : readFence(text, fence, { info: match[2] ?? '', start: pattern.lastIndex });
    if (stretch.error !== undefined) return stretch.error;
    if (stretch.json) values.push(stretch.json);
    if (stretch.end === match.index + 1) unbalanced += 1;
    if (unbalanced > UNBALANCED_AT_MOST) break; // each costs a look at the whole rest
    pattern.lastIndex = stretch.end;
  }
  return values;
}

function readFence(text: string, fence: string, { info, start }: { info: string; start: number }): Stretch {
  const close = new RegExp(`^[ \\t]*${fence.charAt(0)}{${fence.length},}[ \\t]*$`, 'gm');
  close.lastIndex = start;
  const closed = close.exec(text);
  const end = closed ? close.lastIndex : text.length;
  const content = text.slice(start, closed?.index ?? end);
  const json = readJson(content);
  const isJson = /^\s*(?:json\w*\s*)?$/i.test(info);
  if (json.ok) return isJson || typeof json.value === 'object' ? { end, json } : { end };
  const isMeant = /^\s*json/i.test(info) || (isJson && startsLikeJson(content.trimStart()));
  return isMeant ? { end, error: json.error } : { end };
}

function readBrackets(text: string, start: number): Stretch {
  const end = bracketEnd(text, start);
  const json = readJson(text.slice(start, end));
  if (json.ok) return { end: end ?? text.length, json };
  if (startsLikeJson(text.slice(start, start + 200))) return { end: text.length, error: json.error };
  return { end: end ?? start + 1 };
}

// A bracket of prose ("[see above]") is passed over; what begins as JSON and fails is an answer that went wrong.
function startsLikeJson(text: string): boolean {
  return /^\{\s*(?:["'}]|[\w$]+\s*:)|^\[\s*(?:["'{[\]\d-]|true\b|false\b|null\b)/.test(text);
}

function isSame(a: JsonText, b: JsonText): boolean {
  return a.text === b.text || (isDeepStrictEqual(a.value, b.value) && digits(a.text) === digits(b.text));
}

// Two spellings of large numbers can give one value; then they are not the same answer.
function digits(text: string): string {
  return (text.match(/\d{16,}/g) ?? []).sort().join(' ');
}
