// The form of a script for provider `script`.

import { isJsonObject, type JsonValue } from '../core/json.ts';
import { didYouMean } from '../core/nearest.ts';
import { type Issue, showValue } from './issues.ts';
import { pointerTo } from './pointer.ts';

type Check = (value: JsonValue) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isTexts: Check = (value) => isText(value) || (Array.isArray(value) && value.every(isText));
const isHeaders: Check = (value) => isJsonObject(value) && Object.values(value).every(isText);
const isAny: Check = () => true;

interface Field {
  check: Check;
  expected: string;
  /** Keys of the objects inside. */
  fields?: Record<string, Field>;
  required?: readonly string[];
}

const TEXT: Field = { check: isText, expected: 'a text' };
const COUNT: Field = { check: isCount, expected: 'a whole number of at least 0' };

const CALL: Record<string, Field> = {
  name: TEXT,
  id: TEXT,
  input: { check: isAny, expected: '' },
  input_json: TEXT,
};

const ERROR: Record<string, Field> = {
  status: COUNT,
  type: TEXT,
  message: TEXT,
  headers: { check: isHeaders, expected: 'an object of texts' },
};

const TURN: Record<string, Field> = {
  text: TEXT,
  thinking: TEXT,
  tool_use: { check: Array.isArray, expected: 'a list of calls', fields: CALL, required: ['name'] },
  stop_reason: TEXT,
  usage: { check: isJsonObject, expected: 'an object of token counts' },
  error: { check: isJsonObject, expected: 'an object', fields: ERROR },
  expect: { check: isTexts, expected: 'a text or a list of texts' },
  delay_ms: COUNT,
};

const SCRIPT: Record<string, Field> = {
  turns: { check: Array.isArray, expected: 'a list of turns', fields: TURN },
};

/** What is wrong with a script; pointers begin with `pointer`, where the script itself stands. */
export function scriptIssues(value: JsonValue, pointer: string): Issue[] {
  return objectIssues(value, pointer, { fields: SCRIPT, required: ['turns'] });
}

function objectIssues(
  value: JsonValue,
  pointer: string,
  rules: { fields: Record<string, Field>; required?: readonly string[] },
): Issue[] {
  if (!isJsonObject(value)) return [{ pointer, message: `found ${showValue(value)}, expected an object` }];
  const names = Object.keys(rules.fields);
  const issues = (rules.required ?? [])
    .filter((name) => !Object.hasOwn(value, name))
    .map((name): Issue => ({ pointer, message: `the key "${name}" is missing, expected it here` }));
  for (const [key, item] of Object.entries(value)) {
    const at = pointerTo(pointer, key);
    const field = Object.hasOwn(rules.fields, key) ? rules.fields[key] : undefined;
    if (field) issues.push(...fieldIssues(item, at, field));
    else {
      const expected = `expected one of ${names.map((name) => `"${name}"`).join(', ')}${didYouMean(key, names)}`;
      issues.push({ pointer: at, at: 'key', message: `found the unknown key ${showValue(key)}, ${expected}` });
    }
  }
  return issues;
}

function fieldIssues(value: JsonValue, pointer: string, field: Field): Issue[] {
  if (!field.check(value)) return [{ pointer, message: `found ${showValue(value)}, expected ${field.expected}` }];
  const { fields, required } = field;
  if (!fields) return [];
  const rules = { fields, ...(required ? { required } : {}) };
  if (!Array.isArray(value)) return objectIssues(value, pointer, rules);
  return value.flatMap((item, index) => objectIssues(item, pointerTo(pointer, index), rules));
}
