import { headOf } from '../core/graphemes.ts';
import { parseJson, type JsonParse } from '../core/json.ts';

const DEEPEST = 200;

/** Parses JSON and refuses what a reader could take in two ways: repeated keys, NUL in a string, numbers that would be rounded. */
export function parseStrict(text: string): JsonParse {
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed;
  const problem = findProblem(text);
  return problem === undefined ? parsed : { ok: false, error: problem };
}

/** Scans text that is known to be valid JSON. */
function findProblem(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '{' || character === '[') open.push(character === '{' ? new Set() : undefined);
    if (character === '}' || character === ']') open.pop();
    if (open.length > DEEPEST) return `it is nested deeper than ${DEEPEST} levels`;
    const end = character === '"' ? stringEnd(text, at) : numberEnd(text, at);
    if (end === at) continue;
    const token = text.slice(at, end);
    const problem = character === '"' ? stringProblem(text, token, end, open.at(-1)) : numberProblem(token);
    if (problem !== undefined) return problem;
    at = end - 1;
  }
  return undefined;
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"' && at < text.length) at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function numberEnd(text: string, start: number): number {
  const number = /-?\d[\d.eE+-]*/y;
  number.lastIndex = start;
  return number.test(text) ? number.lastIndex : start;
}

function stringProblem(text: string, token: string, end: number, keys: Set<string> | undefined): string | undefined {
  const value: unknown = token.includes('\\') ? JSON.parse(token) : token.slice(1, -1);
  if (typeof value !== 'string') return undefined; // a string token is a string
  const isKey = keys !== undefined && /^\s*:/.test(text.slice(end, end + 64));
  if (isKey && keys.has(value)) return `the key ${JSON.stringify(value)} stands twice in one object`;
  if (isKey && value === '__proto__') return 'the key "__proto__" is not allowed'; // also when spelled with escapes
  if (isKey) keys.add(value);
  return value.includes('\0') ? `${isKey ? 'a key' : `the text ${excerpt(value)}`} holds a NUL character` : undefined;
}

function excerpt(value: string): string {
  return JSON.stringify(value.length > 40 ? `${headOf(value, 40)}…` : value);
}

function numberProblem(token: string): string | undefined {
  const value = Number(token);
  if (Number.isFinite(value) && digitsOf(token) === digitsOf(String(value))) return undefined;
  return `the number ${token.slice(0, 40)} cannot be kept exactly; write it as a string`;
}

/** Significant digits and their exponent: "1.50", "150e-2" and "1.5" give the same text. */
function digitsOf(number: string): string {
  const match = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number);
  if (!match) return number;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + (digits.length - significant.length)}`;
}
