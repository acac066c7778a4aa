import type { ScriptConfig, ScriptTurn } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';

/** Where a script stands, for messages: its file, and the pointer of the script inside it. */
export interface ScriptPlace {
  file: string;
  pointer: string;
}

type Check = (value: unknown) => boolean;
type Fields = Record<string, { check: Check; expected: string }>;

const isText: Check = (value) => typeof value === 'string';
const isCount: Check = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0;
const isTexts: Check = (value) => isText(value) || (Array.isArray(value) && value.every(isText));
const text = { check: isText, expected: 'a text' };
const object = { check: isJsonObject, expected: 'an object' };

const TURN: Fields = {
  text,
  thinking: text,
  tool_use: { check: Array.isArray, expected: 'a list of calls' },
  stop_reason: text,
  usage: object,
  error: object,
  expect: { check: isTexts, expected: 'a text or a list of texts' },
  delay_ms: { check: isCount, expected: 'milliseconds, 0 or more' },
};
const CALL: Fields = {
  name: text,
  input: { check: () => true, expected: 'any value' },
  input_json: text,
  id: text,
};
const ERROR: Fields = {
  status: { check: (value) => Number.isInteger(value) && isCount(value), expected: 'an HTTP status' },
  type: text,
  message: text,
  headers: {
    check: (value) => isJsonObject(value) && Object.values(value).every(isText),
    expected: 'an object of texts',
  },
};

/** The script, if its shape is right; else a UsageError with file and pointer of the first thing that is wrong. */
export function checkScript(value: unknown, place: ScriptPlace): ScriptConfig {
  const script = checkObject(value, { turns: { check: Array.isArray, expected: 'a list of turns' } }, place);
  const turns: unknown = script['turns'];
  if (!Array.isArray(turns)) throw wrong('a script needs a list of "turns"', place);
  return { turns: turns.map((turn, index) => checkTurn(turn, below(place, `turns/${index}`))) };
}

function checkTurn(value: unknown, place: ScriptPlace): ScriptTurn {
  const turn = checkObject(value, TURN, place);
  const calls: unknown[] = Array.isArray(turn['tool_use']) ? turn['tool_use'] : [];
  for (const [index, call] of calls.entries()) {
    const at = below(place, `tool_use/${index}`);
    const { name, input, input_json } = checkObject(call, CALL, at);
    if (name === undefined) throw wrong('a call needs a "name"', at);
    if (input !== undefined && input_json !== undefined)
      throw wrong('a call has "input" or "input_json", not both', at);
  }
  if (turn['error'] !== undefined) checkObject(turn['error'], ERROR, below(place, 'error'));
  if (turn['error'] !== undefined && (turn['text'] !== undefined || calls.length > 0)) {
    throw wrong('a turn with "error" fails, so it has no "text" and no "tool_use"', place);
  }
  return turn; // every field was checked above
}

function checkObject(value: unknown, fields: Fields, place: ScriptPlace): JsonObject {
  if (!isJsonObject(value)) throw wrong(`expected an object, found ${show(value)}`, place);
  for (const [key, found] of Object.entries(value)) {
    const field = fields[key];
    if (!field) throw wrong(`unknown field; known are ${Object.keys(fields).join(', ')}`, below(place, key));
    if (!field.check(found)) throw wrong(`expected ${field.expected}, found ${show(found)}`, below(place, key));
  }
  return value;
}

function below({ file, pointer }: ScriptPlace, path: string): ScriptPlace {
  return { file, pointer: `${pointer}/${path}` };
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 60);
}

function wrong(message: string, place: ScriptPlace): UsageError {
  return new UsageError(message, { place });
}
