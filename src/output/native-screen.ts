// Whether the service's own structured output takes a schema without any change: else it would refuse the request, or
// quietly drop a rule. Kept narrower than what might work; the way through a tool works for every schema.

import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { resolveLocal, walkSchema } from '../core/schema-walk.ts';

const KEYWORDS = new Set(
  '$defs $ref additionalProperties allOf anyOf const default description enum format items minItems pattern properties required title type'.split(
    ' ',
  ),
);
const TYPES = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean', 'null']);
const FORMATS = new Set('date-time date time duration email hostname uri ipv4 ipv6 uuid'.split(' '));
const OPTIONAL_AT_MOST = 24;
const UNIONS_AT_MOST = 16;

/** Why a schema cannot be sent natively as it is; undefined when it can. */
export function nativeObstacle(schema: JsonValue): string | undefined {
  if (!isJsonObject(schema) || schema['type'] !== 'object') return 'the root is no plain object';
  const nodes = [...walkSchema(schema)];
  for (const { node, pointer } of nodes) {
    const obstacle = nodeObstacle(node, schema);
    if (obstacle !== undefined) return `${pointer === '' ? 'root' : pointer}: ${obstacle}`;
  }
  if (nodes.some(({ node }) => refersToItself(node, schema))) return 'it is recursive';
  const optional = nodes.reduce((sum, { node }) => sum + optionalCount(node), 0);
  if (optional > OPTIONAL_AT_MOST) return `${optional} optional properties`;
  const unions = nodes.filter(({ node }) => 'anyOf' in node).length;
  return unions > UNIONS_AT_MOST ? `${unions} unions` : undefined;
}

function nodeObstacle(node: JsonObject, root: JsonObject): string | undefined {
  const unknown = Object.keys(node).find((keyword) => !KEYWORDS.has(keyword));
  if (unknown !== undefined) return `"${unknown}" is not supported`;
  return typeObstacle(node) ?? valueObstacle(node) ?? referenceObstacle(node, root);
}

function typeObstacle(node: JsonObject): string | undefined {
  const { type } = node;
  if (type === undefined) {
    const says = ['$ref', 'anyOf', 'allOf', 'enum', 'const'].some((keyword) => keyword in node);
    return says ? undefined : 'a schema without a type';
  }
  if (typeof type !== 'string' || !TYPES.has(type)) return 'a list of types';
  if (type === 'object' && node['additionalProperties'] !== false) return 'an object open to further keys';
  if (type === 'object' && !isJsonObject(node['properties'])) return 'an object without properties';
  if (type === 'array' && !isJsonObject(node['items'])) return 'a list without a schema of its items';
  return undefined;
}

function valueObstacle(node: JsonObject): string | undefined {
  const values = [...(Array.isArray(node['enum']) ? node['enum'] : []), ...('const' in node ? [node['const']] : [])];
  if (values.some((value) => typeof value === 'object' && value !== null)) return 'an enum of objects';
  if (typeof node['minItems'] === 'number' && node['minItems'] > 1) return '"minItems" above 1';
  if (typeof node['format'] === 'string' && !FORMATS.has(node['format'])) return `the format "${node['format']}"`;
  const pattern = node['pattern'];
  return typeof pattern === 'string' && !isSimplePattern(pattern) ? `the pattern ${pattern}` : undefined;
}

// No lookaround, back reference, word boundary, property class or named group.
function isSimplePattern(pattern: string): boolean {
  return !/\(\?[^:]|\\[1-9bBkpP]/.test(pattern);
}

function referenceObstacle(node: JsonObject, root: JsonObject): string | undefined {
  const reference = node['$ref'];
  if (typeof reference === 'string') {
    const known = reference.startsWith('#/$defs/') && isJsonObject(resolveLocal(root, reference));
    if (!known) return `the reference "${reference}"`;
  }
  const parts = Array.isArray(node['allOf']) ? node['allOf'] : [];
  const inside = parts.some((part) => [...walkSchema(part)].some((found) => '$ref' in found.node));
  return inside ? 'a reference inside allOf' : undefined;
}

function refersToItself(node: JsonObject, root: JsonObject): boolean {
  const target = targetOf(node, root);
  if (!target) return false;
  const seen = new Set<JsonObject>();
  const open = [target];
  for (let next = open.pop(); next; next = open.pop()) {
    for (const inner of walkSchema(next)) {
      const further = targetOf(inner.node, root);
      if (further === target) return true;
      if (further && !seen.has(further)) open.push(further);
      if (further) seen.add(further);
    }
  }
  return false;
}

function targetOf(node: JsonObject, root: JsonObject): JsonObject | undefined {
  const target = typeof node['$ref'] === 'string' ? resolveLocal(root, node['$ref']) : undefined;
  return isJsonObject(target) ? target : undefined;
}

function optionalCount(node: JsonObject): number {
  const required = Array.isArray(node['required']) ? node['required'] : [];
  return isJsonObject(node['properties'])
    ? Object.keys(node['properties']).filter((key) => !required.includes(key)).length
    : 0;
}
