// Copies of tool schemas for endpoints that take only strict ones: every object closed, every property required. What a
// task wrote stays as it is and is what a call is checked against; an optional property is a nullable one in the copy,
// and the null that a model then has to write is taken out of its call again (field report B055).

import { isJsonObject, parseJson } from '../core/json.ts';
import type { JsonObject, JsonValue } from '../core/json.ts';
import { elementsOf, membersOf, objectText } from './json-text.ts';

const DROPPED = new Set(['$schema', '$id', '$comment', 'default', 'format', 'examples', 'title']);
const LISTS = ['anyOf', 'oneOf', 'allOf'];
const MAPS = ['$defs', 'definitions'];

/** The strict copy of a schema; undefined where there is none, because an object may have properties of any name. */
export function strictCopy(schema: JsonObject): JsonObject | undefined {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (DROPPED.has(key)) continue;
    const strict = strictMember(key, value);
    if (strict === undefined) return undefined;
    copy[key] = strict;
  }
  return mayBeObject(schema) ? closed(schema, copy) : copy;
}

/** The text of a call's input without the nulls that stand for optional properties that are not there. */
export function withoutNulls(input_json: string, schema: JsonObject): string {
  // A call that holds none keeps its spelling to the last space.
  return input_json.includes('null') && parseJson(input_json).ok ? cleaned(input_json.trim(), schema) : input_json;
}

function strictMember(key: string, value: JsonValue): JsonValue | undefined {
  if (key === 'items' && isJsonObject(value)) return strictCopy(value);
  if (LISTS.includes(key) && Array.isArray(value)) {
    const copies = value.map((item) => (isJsonObject(item) ? strictCopy(item) : item));
    return copies.every((item) => item !== undefined) ? copies : undefined;
  }
  if (!MAPS.includes(key) || !isJsonObject(value)) return value;
  const copies: JsonObject = {};
  for (const [name, item] of Object.entries(value)) {
    const strict = isJsonObject(item) ? strictCopy(item) : item;
    if (strict === undefined) return undefined;
    copies[name] = strict;
  }
  return copies;
}

function mayBeObject({ type, properties }: JsonObject): boolean {
  return type === 'object' || properties !== undefined || (Array.isArray(type) && type.includes('object'));
}

function closed(schema: JsonObject, copy: JsonObject): JsonObject | undefined {
  const { properties = {}, additionalProperties } = schema;
  if (!isJsonObject(properties) || schema['patternProperties'] !== undefined) return undefined;
  const open = additionalProperties !== false && Object.keys(properties).length === 0;
  if (open || isJsonObject(additionalProperties)) return undefined;
  const strict: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    const own = isJsonObject(property) ? strictCopy(property) : undefined;
    if (own === undefined) return undefined;
    strict[name] = isOptional(schema, name) ? nullable(own) : own;
  }
  return { ...copy, properties: strict, required: Object.keys(properties), additionalProperties: false };
}

function isOptional({ required }: JsonObject, name: string): boolean {
  return !Array.isArray(required) || !required.includes(name);
}

function nullable(schema: JsonObject): JsonObject {
  if (takesNull(schema)) return schema;
  const { type, enum: values } = schema;
  if (typeof type !== 'string' && !Array.isArray(type)) return { anyOf: [schema, { type: 'null' }] };
  if ('const' in schema) return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [type, 'null'].flat(), ...(Array.isArray(values) ? { enum: [...values, null] } : {}) };
}

function takesNull({ type, enum: values }: JsonObject): boolean {
  if (Array.isArray(values)) return values.includes(null);
  return type === 'null' || (Array.isArray(type) && type.includes('null'));
}

function cleaned(text: string, schema: JsonObject): string {
  const { properties, items } = schema;
  if (text.startsWith('[') && isJsonObject(items)) {
    const before = elementsOf(text);
    const after = before.map((element) => cleaned(element, items));
    return after.join() === before.join() ? text : `[${after.join()}]`;
  }
  if (!text.startsWith('{') || !isJsonObject(properties)) return text;
  const before = membersOf(text);
  const after = before.flatMap((member) => {
    const property = properties[member.key];
    if (!isJsonObject(property)) return [member];
    if (member.text === 'null' && isOptional(schema, member.key) && !takesNull(property)) return [];
    return [{ ...member, text: cleaned(member.text, property) }];
  });
  return objectText(after) === objectText(before) ? text : objectText(after);
}
