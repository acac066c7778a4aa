// The built-in tools' schemas use few words, so checking them needs no validator to be loaded at every start.

import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { didYouMean } from '../core/nearest.ts';

type Type = 'string' | 'integer' | 'boolean' | 'array';

interface Field {
  type: Type;
  items?: Field;
  /** May be null, which stands for absent. */
  nullable?: true;
}

interface PlainSchema {
  properties: Record<string, Field>;
  required: readonly string[];
}

const TYPES = new Set<unknown>(['string', 'integer', 'boolean', 'array']);

/** Checks an input, naming the field, what was found and what was expected; no sentence: it fits. */
export type CheckInput = (input: JsonObject) => string[];

/** A schema in the words that our own tools use. */
export interface PlainTool {
  check: CheckInput;
  /** The input without the nulls that stand for absent fields. */
  withoutNulls: (input: JsonObject) => JsonObject;
  /** As services get it: every field required, an optional one may be null. Strict endpoints know no other (B189). */
  sent: Record<string, unknown>;
}

/** A checker for a schema in the words that our own tools use; undefined for one that says more. */
export function plainChecker(schema: Record<string, unknown>): CheckInput | undefined {
  return plainTool(schema)?.check;
}

/** The same with all that is needed to offer it; also of a schema as it was sent. */
export function plainTool(schema: Record<string, unknown>): PlainTool | undefined {
  const plain = readSchema(schema);
  if (!plain) return undefined;
  const optional = new Set(Object.keys(plain.properties).filter((name) => !plain.required.includes(name)));
  return {
    check: (input) => checkInput(plain, input),
    withoutNulls: (input) =>
      Object.fromEntries(Object.entries(input).filter(([name, value]) => value !== null || !optional.has(name))),
    sent: { ...schema, properties: sentFields(plain, optional), required: Object.keys(plain.properties) },
  };
}

function sentFields({ properties }: PlainSchema, optional: ReadonlySet<string>): Record<string, unknown> {
  const sent: Record<string, unknown> = {};
  for (const [name, { nullable: _nullable, ...field }] of Object.entries(properties)) {
    sent[name] = optional.has(name) ? { ...field, type: [field.type, 'null'] } : field;
  }
  return sent;
}

function readSchema(schema: Record<string, unknown>): PlainSchema | undefined {
  const { type, properties, required, additionalProperties, ...other } = schema;
  if (type !== 'object' || additionalProperties !== false || Object.keys(other).length > 0) return undefined;
  if (!isJsonObject(properties) || !Array.isArray(required)) return undefined;
  const fields: Record<string, Field> = {};
  for (const [name, value] of Object.entries(properties)) {
    const field = readField(value);
    if (!field) return undefined;
    fields[name] = field;
  }
  const needed = required.filter((name) => typeof name === 'string' && fields[name]?.nullable !== true);
  return { properties: fields, required: needed as string[] }; // filtered above
}

function readField(value: unknown): Field | undefined {
  if (!isJsonObject(value)) return undefined;
  const { type: types, items, ...other } = value;
  const [type, second, ...more] = Array.isArray(types) ? types : [types];
  const nullable = second === 'null' && more.length === 0;
  if (!TYPES.has(type) || (second !== undefined && !nullable) || Object.keys(other).length > 0) return undefined;
  const inner = items === undefined ? undefined : readField(items);
  if (items !== undefined && !inner) return undefined;
  return { type: type as Type, ...(inner && { items: inner }), ...(nullable && { nullable }) }; // one of TYPES, checked above
}

function checkInput({ properties, required }: PlainSchema, input: JsonObject): string[] {
  const names = Object.keys(properties);
  const missing = required
    .filter((name) => !Object.hasOwn(input, name))
    .map((name) => `the field "${name}" is missing (${properties[name]?.type ?? 'any'})`);
  const unknown = Object.keys(input)
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => `the field ${JSON.stringify(name.slice(0, 100))} is unknown${didYouMean(name, names)}`);
  const wrong = names.flatMap((name) => {
    const field = properties[name];
    return field && Object.hasOwn(input, name) ? checkValue(field, input[name] ?? null, name) : [];
  });
  const all = [...missing, ...unknown, ...wrong];
  return all.length > 0
    ? [...all, `fields: ${names.map((name) => describe(name, properties[name], required)).join(', ')}`]
    : [];
}

function checkValue(field: Field, value: JsonValue, name: string): string[] {
  const found = typeOf(value);
  if (found !== field.type) return [`"${name}" is ${shown(value, found)}; expected ${withArticle(field.type)}`];
  const { items } = field;
  if (!items || !Array.isArray(value)) return [];
  return value.flatMap((item, index) => checkValue(items, item, `${name}[${index}]`)).slice(0, 3);
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function shown(value: JsonValue, type: string): string {
  if (type === 'null') return 'null';
  const text = JSON.stringify(value);
  return `${withArticle(type)} (${text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text})`;
}

function withArticle(type: string): string {
  return `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`;
}

function describe(name: string, field: Field | undefined, required: readonly string[]): string {
  return `${name} (${field?.type ?? 'any'}${required.includes(name) ? ', required' : ''})`;
}
