import type { FindingsMap } from './config.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { resolveLocal } from './schema-walk.ts';

const FIELDS = ['path', 'line', 'end_line', 'level', 'title', 'message'] as const;
/** References may go round in a circle or double at each step; what is beyond is taken to be possible. */
const MAX_DEPTH = 64;
const MAX_LOOKS = 10_000;

/** Pointers of a findings map that no valid output can have anything at, one sentence each; `schema` undefined: a text. */
export function idlePointers(schema: JsonValue | undefined, map: FindingsMap): string[] {
  if (schema === undefined) return ['findings: found no output.schema, so the output is a text, which holds no list'];
  const { items } = map;
  const can = (pointer: string, type?: string): boolean =>
    possible({ root: schema, depth: 0, looks: { left: MAX_LOOKS } }, schema, steps(pointer), type);
  if (!can(items)) return [idle('items', items, 'allows nothing there')];
  if (!can(items, 'array')) return [idle('items', items, 'allows no list there')];
  return FIELDS.flatMap((name) => {
    const pointer = map[name];
    return pointer === undefined || can(`${items}/0${pointer}`)
      ? []
      : [idle(name, pointer, 'allows nothing there in an item')];
  });
}

function idle(name: string, pointer: string, what: string): string {
  return `findings.${name}: found ${JSON.stringify(pointer)}, but output.schema ${what}`;
}

function steps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

interface Place {
  root: JsonValue;
  depth: number;
  looks: { left: number };
}

/** Whether a value may stand at the end of the way; "yes" wherever a keyword that is not looked at might forbid it. */
function possible(place: Place, schema: JsonValue | undefined, way: readonly string[], type?: string): boolean {
  if (schema === false) return false;
  place.looks.left -= 1;
  if (!isJsonObject(schema) || place.depth > MAX_DEPTH || place.looks.left < 0) return true;
  const deeper = { ...place, depth: place.depth + 1 };
  const both = (other: JsonValue | undefined): boolean => possible(deeper, other, way, type);
  const reference = schema['$ref'];
  if (typeof reference === 'string' && !both(resolveLocal(place.root, reference))) return false;
  if (!listOf(schema, 'allOf').every(both)) return false;
  for (const name of ['anyOf', 'oneOf']) {
    const forms = listOf(schema, name);
    if (forms.length > 0 && !forms.some(both)) return false;
  }
  const [step, ...rest] = way;
  if (step === undefined) return type === undefined || allows(schema, type);
  return childrenAt(schema, step).some((child) => possible(deeper, child, rest, type));
}

/** What may stand one step further: the schemas of a member, of an item, or both. */
function childrenAt(schema: JsonObject, step: string): (JsonValue | undefined)[] {
  const member = allows(schema, 'object') ? [memberAt(schema, step)] : [];
  return allows(schema, 'array') && /^(0|[1-9]\d*)$/.test(step) ? [...member, itemAt(schema, Number(step))] : member;
}

function memberAt(schema: JsonObject, name: string): JsonValue | undefined {
  const { properties, patternProperties, additionalProperties } = schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, name)) return properties[name];
  if (isJsonObject(patternProperties) && Object.keys(patternProperties).length > 0) return undefined;
  return additionalProperties;
}

function itemAt({ items, prefixItems, additionalItems }: JsonObject, index: number): JsonValue | undefined {
  const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  if (index < first.length) return first[index];
  return Array.isArray(items) ? additionalItems : items;
}

function allows({ type }: JsonObject, wanted: string): boolean {
  if (typeof type === 'string') return type === wanted;
  return !Array.isArray(type) || type.includes(wanted);
}

function listOf(schema: JsonObject, name: string): JsonValue[] {
  const value = schema[name];
  return Array.isArray(value) ? value : [];
}
