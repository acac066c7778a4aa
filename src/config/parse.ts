// Text -> JSON value. Plain JSON takes the fast way; comments, YAML and mistakes load their parser.

import type { ParseError } from 'jsonc-parser';
import { UsageError } from '../core/errors.ts';
import { isJsonObject, type JsonValue } from '../core/json.ts';
import { issuesError } from './issues.ts';
import { pointerTo } from './pointer.ts';
import { positionAt } from './positions.ts';
import { MAX_DEPTH, scanJson } from './scan.ts';
import type { Source } from './source.ts';

/** The value of a JSON (comments and trailing commas allowed) or YAML 1.2 text; throws UsageError with line and column. */
export async function parseSource(source: Source): Promise<JsonValue> {
  if (source.text.trim() === '')
    throw new UsageError('the file is empty, expected an object', { place: { file: source.file } });
  return source.format === 'yaml' ? parseYaml(source) : parseJsonText(source);
}

async function parseJsonText(source: Source): Promise<JsonValue> {
  const plain = tryJson(source.text);
  const scan = scanJson(source.text);
  if (scan.too_deep !== undefined) throw tooDeep(source, scan.too_deep);
  const value = plain ?? (await parseWithComments(source));
  // After the parse, so that a syntax error is named before what follows from it.
  if (scan.refused) throw errorAt(source, scan.refused.offset, scan.refused.message);
  return value.value;
}

function tryJson(text: string): { value: JsonValue } | undefined {
  try {
    return { value: JSON.parse(text) as JsonValue }; // JSON.parse yields nothing but JsonValue
  } catch {
    // Comments, trailing commas or a mistake: the tolerant parser tells which.
    return undefined;
  }
}

const EXPECTED: Record<string, string> = {
  InvalidSymbol: 'expected a value (text stands in double quotes)',
  InvalidNumberFormat: 'expected a number',
  PropertyNameExpected: 'expected a key in double quotes',
  ValueExpected: 'expected a value',
  ColonExpected: 'expected ":" after the key',
  CommaExpected: 'expected "," or the end of the list or object',
  CloseBraceExpected: 'expected "," or "}"',
  CloseBracketExpected: 'expected "," or "]"',
  EndOfFileExpected: 'expected the end of the file',
  UnexpectedEndOfComment: 'expected "*/" at the end of the comment',
  UnexpectedEndOfString: 'expected the closing double quote on the same line',
  UnexpectedEndOfNumber: 'expected a digit',
  InvalidUnicode: 'expected four hexadecimal digits after \\u',
  InvalidEscapeCharacter: 'expected a JSON escape such as \\n or \\\\',
  InvalidCharacter: 'expected no control characters in a text',
};

async function parseWithComments(source: Source): Promise<{ value: JsonValue }> {
  const { parse, printParseErrorCode } = await import('jsonc-parser');
  const errors: ParseError[] = [];
  const value = parse(source.text, errors, { allowTrailingComma: true }) as JsonValue; // JSON text holds nothing else
  const [first] = errors;
  if (!first) return { value };
  const expected = EXPECTED[printParseErrorCode(first.error)] ?? 'expected JSON';
  throw errorAt(source, first.offset, `broken JSON: found ${tokenAt(source.text, first.offset)}, ${expected}`);
}

async function parseYaml(source: Source): Promise<JsonValue> {
  if (looksTooDeep(source.text)) throw tooDeep(source, 0);
  const { parseDocument } = await import('./yaml.ts');
  const document = parseDocument(source.text, { prettyErrors: false, stringKeys: true });
  const mistake = document.errors[0] ?? document.warnings[0];
  if (mistake) {
    const offset = mistake.pos[0];
    throw errorAt(source, offset, `broken YAML: found ${tokenAt(source.text, offset)}: ${mistake.message}`);
  }
  try {
    const value = document.toJS() as JsonValue; // the core schema yields nothing else
    await refuseShape(source, value);
    return value;
  } catch (error) {
    // Aliases that multiply without end are refused by the parser with a ReferenceError.
    if (error instanceof ReferenceError) throw new UsageError(error.message, { place: { file: source.file } });
    throw error;
  }
}

// The YAML parser recurses and builds patterns from the indentation: absurd input must not reach it.
function looksTooDeep(text: string): boolean {
  if (/^[ \t?:-]{400}/m.test(text)) return true;
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = Math.max(0, depth + (bracket === '[' || bracket === '{' ? 1 : -1));
    if (depth > 2 * MAX_DEPTH) return true;
  }
  return false;
}

async function refuseShape(source: Source, root: JsonValue): Promise<void> {
  const stack = [{ value: root, pointer: '', depth: 0 }];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { value, pointer, depth } = item;
    if (depth > MAX_DEPTH) throw tooDeep(source, 0);
    if (isJsonObject(value) && Object.hasOwn(value, '__proto__')) {
      throw await issuesError(source, [
        { pointer: pointerTo(pointer, '__proto__'), at: 'key', message: 'the key "__proto__" is not allowed' },
      ]);
    }
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, child] of Object.entries(value)) {
      stack.push({ value: child, pointer: pointerTo(pointer, key), depth: depth + 1 });
    }
  }
}

function tooDeep(source: Source, offset: number): UsageError {
  return errorAt(source, offset, `nested too deeply; expected at most ${MAX_DEPTH} levels of lists and objects`);
}

function errorAt(source: Source, offset: number, message: string): UsageError {
  return new UsageError(message, { place: { file: source.file, ...positionAt(source.text, offset) } });
}

function tokenAt(text: string, offset: number): string {
  const token = /^(?:[^\S\n]*)("[^"\n]*"?|!*[\w.+-]+|\S)/.exec(text.slice(offset, offset + 200))?.[1];
  if (token === undefined) return text.slice(offset).trim() === '' ? 'the end of the file' : 'the end of the line';
  return token.startsWith('"') ? token.slice(0, 40) : `"${token.slice(0, 40)}"`;
}
