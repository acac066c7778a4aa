import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';

/** How a keyword holds further schemas. */
const HOLDS_ONE = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const HOLDS_LIST = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'];
const HOLDS_MAP = ['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'];

export interface SchemaNode {
  node: JsonObject;
  pointer: string;
}

/** Every schema object inside a schema, itself first, in the order written; names of properties are not taken for keywords. */
export function* walkSchema(schema: JsonValue): Generator<SchemaNode> {
  const open: { value: JsonValue; pointer: string }[] = [{ value: schema, pointer: '' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isJsonObject(next.value)) continue;
    yield { node: next.value, pointer: next.pointer };
    for (const child of childrenOf(next.value, next.pointer).toReversed()) open.push(child);
  }
}

function childrenOf(node: JsonObject, pointer: string): { value: JsonValue; pointer: string }[] {
  return Object.entries(node).flatMap(([keyword, value]) => {
    const at = join(pointer, keyword);
    if (Array.isArray(value)) {
      return HOLDS_LIST.includes(keyword)
        ? value.map((item, index) => ({ value: item, pointer: `${at}/${index}` }))
        : [];
    }
    if (!isJsonObject(value)) return [];
    if (HOLDS_ONE.includes(keyword)) return [{ value, pointer: at }];
    if (!HOLDS_MAP.includes(keyword)) return [];
    return Object.entries(value).map(([name, child]) => ({ value: child, pointer: join(at, name) }));
  });
}

/** A JSON pointer with one more step. */
export function join(pointer: string, key: string): string {
  return `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** What a reference inside the same document (`#`, `#/…`) points at; undefined when it is none or leads nowhere. */
export function resolveLocal(root: JsonValue, reference: string): JsonValue | undefined {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let value: JsonValue | undefined = root;
  for (const step of reference.slice(2).split('/')) {
    if (reference === '#') break;
    const key = decodeStep(step);
    if (Array.isArray(value)) value = value[Number(key)];
    else value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

function decodeStep(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain; // a lone % is not an escape
  }
}
