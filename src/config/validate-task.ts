// Schema errors as sentences: the value found, what was expected, the nearest valid name.

import { isJsonObject, type JsonValue } from '../core/json.ts';
import { didYouMean, nearest } from '../core/nearest.ts';
import type { SchemaError } from '../core/task-validator.ts';
import { type Issue, showValue } from './issues.ts';
import { pointerKeys, pointerTo } from './pointer.ts';

/** Everything in the value that schemas/task.schema.json refuses; empty when it is a valid task. */
export async function validateTask(value: JsonValue): Promise<Issue[]> {
  const { isTask } = await import('../core/task-check.ts');
  if (isTask(value)) return [];
  const { taskSchemaErrors } = await import('../core/task-validator.ts');
  const errors = taskSchemaErrors(value);
  const issues = errors.flatMap((error) => toIssue(error, errors) ?? []);
  return issues.filter((issue, index) => issues.findIndex((other) => same(issue, other)) === index);
}

function same(a: Issue, b: Issue): boolean {
  return a.pointer === b.pointer && a.message === b.message;
}

function toIssue(error: SchemaError, errors: readonly SchemaError[]): Issue | undefined {
  if (error.propertyName !== undefined) return keyName(error, error.propertyName);
  switch (error.keyword) {
    // These repeat what another error says, or say it of a branch that was not meant.
    case 'if':
    case 'propertyNames':
      return undefined;
    case 'additionalProperties':
      return unknownKey(error, String(error.params['additionalProperty']));
    case 'required':
      return missingKey(error, errors);
    case 'oneOf':
      return oneOf(error, errors);
    case 'dependentRequired':
      return dependent(error);
    case 'false schema':
      return { pointer: error.instancePath, at: 'key', message: notAllowed(error, errors) };
    default:
      return wrongValue(error);
  }
}

function keyName(error: SchemaError, name: string): Issue {
  const message = `found the key ${showValue(name)}, expected a key that matches ${String(error.params['pattern'])}`;
  return { pointer: pointerTo(error.instancePath, name), at: 'key', message };
}

function unknownKey(error: SchemaError, key: string): Issue {
  const names = namesOf(error);
  const expected = `expected one of ${names.map((name) => `"${name}"`).join(', ')}`;
  const message = `found the unknown key ${showValue(key)}, ${expected}${didYouMean(key, names)}`;
  return { pointer: pointerTo(error.instancePath, key), at: 'key', message };
}

/** The keys that the object of an unknown key may have. */
function namesOf(error: SchemaError): string[] {
  return Object.keys(asObject(asObject(error.parentSchema)['properties']));
}

function misspelt(error: SchemaError, errors: readonly SchemaError[], key?: string): boolean {
  return errors.some((other) => {
    if (other.keyword !== 'additionalProperties' || other.instancePath !== error.instancePath) return false;
    return key === undefined || nearest(String(other.params['additionalProperty']), namesOf(other)) === key;
  });
}

function missingKey(error: SchemaError, errors: readonly SchemaError[]): Issue | undefined {
  const key = String(error.params['missingProperty']);
  // The branches of oneOf are summed up by oneOf itself; a misspelt key is reported as such.
  if (/\/oneOf\/\d+\//.test(error.schemaPath) || misspelt(error, errors, key)) return undefined;
  const found = Object.keys(asObject(error.data)).map((name) => showValue(name));
  const has = found.length > 0 ? `only ${found.join(', ')}` : 'an empty object';
  const rule = asObject(asObject(error.parentSchema)['properties'])[key];
  const message = `the key "${key}" is missing: found ${has}, expected "${key}" too${example(rule)}`;
  return { pointer: error.instancePath, message };
}

function oneOf(error: SchemaError, errors: readonly SchemaError[]): Issue | undefined {
  if (misspelt(error, errors)) return undefined;
  const branches = Array.isArray(error.schema) ? error.schema : [];
  const names = branches.flatMap((branch) => asObject(branch)['required'] ?? []).map(String);
  const present = names.filter((name) => Object.hasOwn(asObject(error.data), name));
  const found = present.length > 0 ? present.map((name) => `"${name}"`).join(' and ') : 'none of them';
  const expected = names.map((name) => `"${name}"`).join(', ');
  return { pointer: error.instancePath, message: `found ${found}, expected exactly one of ${expected}` };
}

function dependent(error: SchemaError): Issue {
  const { property, missingProperty } = error.params;
  const message = `found "${String(property)}" alone, expected "${String(missingProperty)}" beside it`;
  return { pointer: pointerTo(error.instancePath, String(property)), at: 'key', message };
}

function notAllowed(error: SchemaError, errors: readonly SchemaError[]): string {
  const keys = pointerKeys(error.instancePath);
  const message = `found "${keys.at(-1) ?? ''}", which is not allowed here`;
  const parent = error.instancePath.slice(0, error.instancePath.lastIndexOf('/'));
  const branch = errors.find(({ keyword, instancePath }) => keyword === 'if' && instancePath === parent);
  const provider = asObject(branch?.data)['provider'];
  return branch ? `${message} with provider ${showValue(provider ?? 'anthropic')}` : message;
}

function wrongValue(error: SchemaError): Issue {
  const found = showValue(error.data, error.instancePath);
  return { pointer: error.instancePath, message: `found ${found}, expected ${expectation(error)}` };
}

function expectation(error: SchemaError): string {
  const limit = String(error.params['limit']);
  switch (error.keyword) {
    case 'type':
      return `${typeNames(error.params['type'])}${example(error.parentSchema)}`;
    case 'enum':
      return choices(error);
    case 'const':
      return showValue(error.params['allowedValue']);
    case 'pattern':
      return described(error.parentSchema, String(error.params['pattern']));
    case 'minimum':
      return `a number of at least ${limit}`;
    case 'exclusiveMinimum':
      return `a number above ${limit}`;
    case 'maximum':
      return `a number of at most ${limit}`;
    case 'minLength':
      return 'a text that is not empty';
    case 'minItems':
      return 'a list that is not empty';
    case 'format':
      return 'a regular expression';
    default:
      return `a value that keeps the rule "${error.keyword}" of the task schema`;
  }
}

const TYPE_NAMES: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

function typeNames(types: unknown): string {
  const list = Array.isArray(types) ? types : [types];
  return list.map((type) => TYPE_NAMES[String(type)] ?? String(type)).join(' or ');
}

function choices(error: SchemaError): string {
  const allowed: unknown = error.params['allowedValues'];
  const names = Array.isArray(allowed) ? allowed.map(String) : [];
  const suggestion = typeof error.data === 'string' ? didYouMean(error.data, names) : '';
  return `one of ${names.map((name) => `"${name}"`).join(', ')}${suggestion}`;
}

/** What the schema itself says of a field; the pattern only where it says nothing. */
function described(rule: unknown, pattern: string): string {
  const { description } = asObject(rule);
  if (typeof description !== 'string') return `a text that matches ${pattern}`;
  const sentence = `${description.charAt(0).toLowerCase()}${description.slice(1).replace(/\.$/, '')}`;
  return `${sentence}${example(rule)}`;
}

function example(rule: unknown): string {
  const { examples } = asObject(rule);
  return Array.isArray(examples) ? `, for example ${showValue(examples[0])}` : '';
}

function asObject(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : {};
}
