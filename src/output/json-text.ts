// Looks at JSON as text, because the text that arrived is what is kept: numbers as written, no key lost.

import { isJsonObject, parseJson, type JsonValue } from '../core/json.ts';

/** Deeper values come from nobody's schema, and recursion over them would overflow elsewhere. */
const DEEPEST = 200;

export interface JsonText {
  text: string;
  value: JsonValue;
}

export type ReadJson = ({ ok: true } & JsonText) | { ok: false; error: string };

/** Strict JSON, its text trimmed. */
export function readJson(text: string): ReadJson {
  const trimmed = text.replace(/^\ufeff/, '').trim();
  const parsed = parseJson(trimmed);
  return parsed.ok ? { ok: true, text: trimmed, value: parsed.value } : parsed;
}

/** The index behind the object or list that starts at `start`, found by its brackets alone; undefined when it does not end. */
export function bracketEnd(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = stringEnd(text, at) - 1;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\]:]/gs;

interface Level {
  /** Absent in a list. */
  keys?: Set<string>;
}

/** What makes valid JSON text unfit to be kept: a key twice, a `__proto__` key, a number no program can hold, absurd depth. */
export function jsonProblem(text: string): string | undefined {
  const open: Level[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const problem = token === ':' ? keyProblem(last, open.at(-1)) : numberProblem(token);
    if (problem !== undefined) return problem;
    if (token === '{') open.push({ keys: new Set() });
    else if (token === '[') open.push({});
    else if (token === '}' || token === ']') open.pop();
    if (open.length > DEEPEST) return `it is nested deeper than ${DEEPEST} levels`;
    last = token;
  }
  return undefined;
}

// In valid JSON a colon outside strings follows a key.
function keyProblem(token: string, level: Level | undefined): string | undefined {
  const key: unknown = JSON.parse(token);
  if (typeof key !== 'string' || !level?.keys) return undefined;
  if (key === '__proto__') return 'the key "__proto__" is not allowed';
  if (level.keys.has(key)) return `the key ${JSON.stringify(key)} stands twice in one object`;
  level.keys.add(key);
  return undefined;
}

function numberProblem(token: string): string | undefined {
  if (!/^-?\d/.test(token) || Number.isFinite(Number(token))) return undefined;
  return `the number ${token.slice(0, 40)} is too large; write it as a string`;
}

/** The value of an object's only member with one of these names, as text and value; undefined for any other shape. */
export function onlyMember(json: JsonText, names: readonly string[]): JsonText | undefined {
  if (!isJsonObject(json.value)) return undefined;
  const [name, ...others] = Object.keys(json.value);
  if (name === undefined || others.length > 0 || !names.includes(name)) return undefined;
  const colon = json.text.indexOf(':', stringEnd(json.text, json.text.indexOf('"')));
  const inner = readJson(json.text.slice(colon + 1, json.text.lastIndexOf('}')));
  return inner.ok ? { text: inner.text, value: inner.value } : undefined;
}

/** The same JSON text with each escape of a lone surrogate half replaced by U+FFFD's. */
export function wellFormedJson(text: string): string {
  const ESCAPES = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\./gs;
  return text
    .toWellFormed()
    .replaceAll(ESCAPES, (escape) => (/^\\u[dD][\da-fA-F]{3}$/.test(escape) ? '\\ufffd' : escape));
}
