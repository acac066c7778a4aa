// What a schema must fulfil beyond its metaschema, found by walking it: sound patterns, references that lead somewhere
// and do not run in circles, and keywords that its draft really knows.

import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { nearest } from './nearest.ts';
import type { OutputIssue } from './outcome.ts';
import { compilePattern, type DialectName } from './schema-dialects.ts';
import { shorten } from './schema-issues.ts';
import { join, resolveLocal, walkSchema } from './schema-walk.ts';

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];
/** Keywords under which a schema judges the very same value, so that a cycle through them never ends. */
const SAME_VALUE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'];

/** Patterns that are no regular expression, with or without the u flag. */
export function badPatterns(schema: JsonValue): OutputIssue[] {
  const issues: OutputIssue[] = [];
  for (const { node, pointer } of walkSchema(schema)) {
    const inline =
      typeof node['pattern'] === 'string' ? [{ pattern: node['pattern'], at: join(pointer, 'pattern') }] : [];
    const properties = isJsonObject(node['patternProperties']) ? Object.keys(node['patternProperties']) : [];
    const keyed = properties.map((pattern) => ({ pattern, at: join(join(pointer, 'patternProperties'), pattern) }));
    for (const { pattern, at } of [...inline, ...keyed]) {
      const error = patternError(pattern);
      if (error !== undefined) issues.push({ pointer: at, message: error });
    }
  }
  return issues;
}

function patternError(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error); // the SyntaxError names pattern and cause
  }
}

/** References that lead out of the document (never followed) or nowhere inside it. */
export function badReferences(schema: JsonValue): OutputIssue[] {
  const known = namedPlaces(schema);
  const issues: OutputIssue[] = [];
  for (const { node, pointer } of walkSchema(schema)) {
    for (const keyword of REFERENCES) {
      const reference = node[keyword];
      if (typeof reference !== 'string') continue;
      const message = referenceError(schema, reference, known);
      if (message !== undefined) issues.push({ pointer: join(pointer, keyword), message });
    }
  }
  return issues;
}

// `$id` starts a document of its own inside the schema; what a reference means there is left to ajv.
function namedPlaces(schema: JsonValue): boolean {
  return [...walkSchema(schema)].some(({ node }) => typeof node['$id'] === 'string');
}

function referenceError(schema: JsonValue, reference: string, has_ids: boolean): string | undefined {
  if (has_ids) return undefined;
  const shown = shorten(reference);
  if (!reference.startsWith('#')) {
    return `${shown} is not part of this schema; files and addresses are never read: put the definition under $defs and refer to "#/$defs/NAME"`;
  }
  const isPlace = reference === '#' || reference.startsWith('#/');
  return isPlace && resolveLocal(schema, reference) === undefined
    ? `${shown} points at nothing in this schema`
    : undefined;
}

/** The pointers of references that only lead to each other, so that judging a value would never end. */
export function endlessReferences(schema: JsonValue): OutputIssue[] {
  const done = new Set<JsonObject>();
  const issues: OutputIssue[] = [];
  for (const { node, pointer } of walkSchema(schema)) {
    if (done.has(node)) continue;
    if (circles(schema, node, new Set(), done)) {
      issues.push({ pointer, message: 'references here only lead to each other and never to a rule' });
    }
  }
  return issues.slice(0, 1);
}

function circles(root: JsonValue, node: JsonObject, open: Set<JsonObject>, done: Set<JsonObject>): boolean {
  if (open.has(node)) return true;
  if (done.has(node)) return false;
  open.add(node);
  const found = sameValueSchemas(root, node).some((next) => circles(root, next, open, done));
  open.delete(node);
  done.add(node);
  return found;
}

function sameValueSchemas(root: JsonValue, node: JsonObject): JsonObject[] {
  const target = typeof node['$ref'] === 'string' ? resolveLocal(root, node['$ref']) : undefined;
  const inside = SAME_VALUE.flatMap((keyword) => node[keyword] ?? []);
  const depending = isJsonObject(node['dependentSchemas']) ? Object.values(node['dependentSchemas']) : [];
  return [target, ...inside, ...depending].filter(isJsonObject);
}

const LATER: Record<string, DialectName> = {
  dependentRequired: '2019-09',
  dependentSchemas: '2019-09',
  maxContains: '2019-09',
  minContains: '2019-09',
  unevaluatedItems: '2019-09',
  unevaluatedProperties: '2019-09',
  prefixItems: '2020-12',
  $dynamicRef: '2020-12',
};
/** Words that stand in schemas for other readers and are no spelling mistakes. */
const ANNOTATIONS = ['discriminator', 'example', 'examples', 'nullable', 'xml', 'externalDocs', 'deprecated'];

/** Keywords that have no effect although their author may think so; one line each. */
export function idleKeywords(schema: JsonValue, dialect: DialectName, isKnown: (keyword: string) => boolean): string[] {
  const lines: string[] = [];
  for (const { node, pointer } of walkSchema(schema)) {
    const at = pointer === '' ? 'root' : pointer;
    for (const keyword of Object.keys(node)) {
      const line = isKnown(keyword) ? undefined : idleLine(keyword, dialect, isKnown);
      if (line !== undefined) lines.push(`${at}: ${line}`);
    }
    if (isJsonObject(node['discriminator']))
      lines.push(`${at}: discriminator is ignored; oneOf or anyOf alone decides`);
  }
  return lines;
}

function idleLine(keyword: string, dialect: DialectName, isKnown: (keyword: string) => boolean): string | undefined {
  const later = LATER[keyword];
  if (later !== undefined) return `"${keyword}" has no effect in ${dialect}; say "$schema" for ${later}`;
  if (ANNOTATIONS.includes(keyword)) return undefined;
  const meant = nearest(keyword, COMMON.filter(isKnown));
  return meant === undefined ? undefined : `unknown keyword "${keyword}" has no effect; did you mean "${meant}"?`;
}

const COMMON = (
  'type properties required additionalProperties items enum const anyOf allOf oneOf not pattern format minimum maximum ' +
  'exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems uniqueItems multipleOf patternProperties ' +
  'propertyNames minProperties maxProperties contains prefixItems dependentRequired unevaluatedProperties'
).split(' ');
