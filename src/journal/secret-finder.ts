import { base64Cores, spellings } from './secret-values.ts';
import { SHAPE_REACH, TOKEN_SHAPES, type TokenShape } from './token-shapes.ts';

/** A stretch of text to be replaced; `at` is where its recognition began, which may be earlier. */
export interface Find {
  at: number;
  start: number;
  end: number;
  rest?: RegExp;
}

export interface Finds {
  /** In order, not overlapping. */
  found: Find[];
  /** From here on more text is needed to decide. */
  undecided: number;
}

type Candidate =
  | { kind: 'literal'; text: string }
  | { kind: 'wrapped'; pattern: RegExp }
  | { kind: 'shape'; shape: TokenShape };

export interface SecretFinder {
  /** Characters behind a position that decide whether a secret starts there. */
  readonly reach: number;
  /** Finds that begin at `from` or later and before `to`; what lies left of `from` is only looked at. */
  find(text: string, from: number, to: number): Finds;
}

const KEYS = 1 << 16;

/** Prepares one pass over texts for all values and shapes: three characters at a time lead to the few that start with them. */
export function createFinder(values: readonly string[]): SecretFinder {
  const table = new Map<number, Candidate[]>();
  const marked = new Uint8Array(KEYS);
  let longest = 0;
  const add = (start: string, candidate: Candidate): void => {
    const key = keyOf(start.charCodeAt(0), start.charCodeAt(1), start.charCodeAt(2));
    marked[key] = 1;
    table.set(key, [...(table.get(key) ?? []), candidate]);
  };
  for (const text of new Set(values.flatMap(spellings))) {
    longest = Math.max(longest, text.length);
    add(text, { kind: 'literal', text });
  }
  for (const core of new Set(values.flatMap(base64Cores))) {
    longest = Math.max(longest, core.length);
    const candidate: Candidate = { kind: 'wrapped', pattern: wrapped(core) };
    for (const start of wrappedStarts(core)) add(start, candidate);
  }
  for (const shape of TOKEN_SHAPES) {
    for (const start of shapeStarts(shape)) add(start, { kind: 'shape', shape });
  }
  const at = (text: string, index: number): readonly Candidate[] => {
    const key = keyOf(text.charCodeAt(index), text.charCodeAt(index + 1), text.charCodeAt(index + 2));
    return marked[key] === 1 ? (table.get(key) ?? []) : [];
  };
  return {
    reach: Math.max(SHAPE_REACH, longest * 2),
    find: (text, from, to) => search(text, from, to, { marked, at }),
  };
}

interface Index {
  marked: Uint8Array;
  at(text: string, index: number): readonly Candidate[];
}

function keyOf(a: number, b: number, c: number): number {
  return ((a << 10) ^ (b << 5) ^ c) & (KEYS - 1);
}

function search(text: string, from: number, to: number, index: Index): Finds {
  const finds: Find[] = [];
  let undecided = text.length;
  const end = Math.min(to, text.length - 2);
  const { marked } = index;
  let a = text.charCodeAt(from);
  let b = text.charCodeAt(from + 1);
  for (let at = from; at < end; at += 1) {
    const c = text.charCodeAt(at + 2);
    if (marked[keyOf(a, b, c)] === 1 && !probe(index.at(text, at), text, at, finds))
      undecided = Math.min(undecided, at);
    a = b;
    b = c;
  }
  return { found: merge(finds), undecided };
}

/** Adds the finds that begin at one place; false when more text is needed to know. */
function probe(candidates: readonly Candidate[], text: string, at: number, finds: Find[]): boolean {
  let decided = true;
  for (const candidate of candidates) {
    const find = match(candidate, text, at, finds);
    if (find === 'undecided') decided = false;
    else if (find) finds.push(find);
  }
  return decided;
}

function match(
  candidate: Candidate,
  text: string,
  at: number,
  earlier: readonly Find[],
): Find | 'undecided' | undefined {
  if (candidate.kind === 'literal') {
    const isHere = text.startsWith(candidate.text, at);
    return isHere ? { at, start: at, end: at + candidate.text.length } : undefined;
  }
  if (candidate.kind === 'wrapped') {
    const end = matchEnd(candidate.pattern, text, at);
    return end === undefined ? undefined : { at, start: at, end };
  }
  return matchShape(candidate.shape, text, at, earlier);
}

function matchShape(shape: TokenShape, text: string, at: number, earlier: readonly Find[]): ReturnType<typeof match> {
  const near = earlier.slice(-8);
  if (near.some((find) => find.rest !== undefined && find.start <= at && at < find.end)) return undefined;
  // What was replaced just before is no word any more, so that redacting twice changes nothing.
  const isFree = shape.boundary === undefined || near.some((find) => find.end === at);
  if (!isFree && shape.boundary && matchEnd(shape.boundary, text, at) === undefined) return undefined;
  const start = shape.lead === undefined ? at : matchEnd(shape.lead, text, at);
  if (start === undefined) return undefined;
  const end = matchEnd(shape.body, text, start);
  if (end !== undefined) return { at, start, end, rest: shape.rest };
  return shape.needs !== undefined && text.length - at < shape.needs ? 'undecided' : undefined;
}

function matchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function merge(finds: Find[]): Find[] {
  if (finds.length < 2) return finds;
  const merged: Find[] = [];
  for (const find of finds.sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = merged.at(-1);
    if (last === undefined || find.start >= last.end) {
      merged.push({ ...find });
      continue;
    }
    last.at = Math.min(last.at, find.at);
    if (find.end < last.end) continue;
    last.end = find.end;
    if (find.rest) last.rest = find.rest;
  }
  return merged;
}

// Encoders break their lines anywhere, and a broken line may itself stand escaped in JSON.
const BREAK = String.raw`(?:[\r\n]|\\+[rn])*`;

function wrapped(core: string): RegExp {
  return new RegExp([...core].map((character) => (character === '+' ? String.raw`\+` : character)).join(BREAK), 'y');
}

function wrappedStarts(core: string): string[] {
  const [a = '', b = ''] = core;
  const breaks = ['\n', '\r', '\\'];
  const afterFirst = [`${a}\n${b}`, `${a}\r\n`, `${a}\r${b}`, `${a}\\n`, `${a}\\r`, `${a}\\\\`];
  return [core.slice(0, 3), ...breaks.map((character) => a + b + character), ...afterFirst];
}

function shapeStarts(shape: TokenShape): string[] {
  const starts = shape.prefixes.map((prefix) => prefix.slice(0, 3));
  const all = shape.ignore_case ? starts.flatMap(casings) : starts;
  return [...new Set(all)];
}

function casings(text: string): string[] {
  return [...text].reduce<string[]>(
    (done, character) =>
      [...new Set([character.toLowerCase(), character.toUpperCase()])].flatMap((letter) =>
        done.map((start) => start + letter),
      ),
    [''],
  );
}
