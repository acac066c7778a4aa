import { isRecord, shown, words } from './json-text.ts';
import type { JsonRecord } from './json-text.ts';

const REFUSED_PATTERN = /\(\?[=!]|\(\?<[=!]|\\[1-9]/;
const FORMATS = ['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'];
const ACCEPTED = words(
  'type properties required additionalProperties items minItems enum const anyOf allOf $ref $defs definitions default ' +
    'pattern format title description examples $schema $id $comment',
);

/** What the grammar compiler of output_config.format and strict tools refuses, each as a message with its path. */
export function* refusedKeywords(schema: unknown, path: string): Generator<string> {
  if (!isRecord(schema)) yield `${path}: Input should be a valid dictionary`;
  else {
    yield* walk(schema, path);
    if (isRecursive(schema)) yield `${path}: Recursive schemas are not supported`;
  }
}

function* walk(schema: unknown, path: string): Generator<string> {
  if (!isRecord(schema)) {
    yield `${path}: boolean schemas are not supported`;
    return;
  }
  for (const keyword of Object.keys(schema)) {
    if (!ACCEPTED.includes(keyword)) yield `${path}: property '${keyword}' is not supported`;
  }
  yield* checkValues(schema, path);
  yield* checkObject(schema, path);
  for (const [at, child] of children(schema, path)) yield* walk(child, at);
}

function* checkValues(schema: JsonRecord, path: string): Generator<string> {
  const { minItems, pattern, format, enum: values, $ref: ref, allOf } = schema;
  if (minItems !== undefined && minItems !== 0 && minItems !== 1)
    yield `${path}: minItems values other than 0 or 1 are not supported`;
  if (typeof pattern === 'string' && REFUSED_PATTERN.test(pattern)) {
    yield `${path}: regex lookaround and backreferences are not supported`;
  }
  if (format !== undefined && !FORMATS.includes(shown(format)))
    yield `${path}: format '${shown(format)}' is not supported`;
  if (Array.isArray(values) && values.some((value) => typeof value === 'object' && value !== null)) {
    yield `${path}: enum values must not be objects or arrays`;
  }
  if (ref !== undefined && !shown(ref).startsWith('#')) yield `${path}: external $ref is not supported`;
  if (Array.isArray(allOf) && JSON.stringify(allOf).includes('"$ref"'))
    yield `${path}: allOf with $ref is not supported`;
}

function* checkObject(schema: JsonRecord, path: string): Generator<string> {
  const isObject = schema['type'] === 'object' || isRecord(schema['properties']);
  if (!isObject && !('additionalProperties' in schema)) return;
  if (schema['additionalProperties'] !== false) {
    yield `${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`;
  }
}

function children(schema: JsonRecord, path: string): [string, unknown][] {
  const found: [string, unknown][] = [];
  for (const keyword of ['properties', '$defs', 'definitions']) {
    const map = schema[keyword];
    if (isRecord(map))
      found.push(...Object.entries(map).map(([key, child]): [string, unknown] => [`${path}.${keyword}.${key}`, child]));
  }
  for (const keyword of ['anyOf', 'allOf']) {
    const list = schema[keyword];
    if (Array.isArray(list))
      found.push(...list.map((child, index): [string, unknown] => [`${path}.${keyword}.${index}`, child]));
  }
  if ('items' in schema) found.push([`${path}.items`, schema['items']]);
  return found;
}

function isRecursive(root: JsonRecord): boolean {
  const visit = (schema: unknown, open: string[]): boolean => {
    if (!isRecord(schema)) return false;
    const ref = schema['$ref'];
    if (typeof ref === 'string') return open.includes(ref) || visit(resolve(root, ref), [...open, ref]);
    return children(schema, '').some(([at, child]) => !/\.(\$defs|definitions)\.[^.]*$/.test(at) && visit(child, open));
  };
  return visit(root, ['#']);
}

function resolve(root: JsonRecord, ref: string): unknown {
  const steps = ref
    .replace(/^#\/?/, '')
    .split('/')
    .filter((step) => step !== '');
  let found: unknown = root;
  for (const step of steps)
    found = isRecord(found) ? found[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  return found;
}
