import type { ErrorObject } from 'ajv';
import { isJsonObject } from './json.ts';
import { didYouMean } from './nearest.ts';
import type { OutputIssue } from './outcome.ts';

/** More than this many issues help nobody to mend a value. */
const MOST_ISSUES = 20;
const MOST_NAMES = 30;
const SHOWN_LENGTH = 80;

const FORMAT_EXAMPLES: Record<string, string> = {
  'date-time': '2026-01-31T09:30:00Z',
  date: '2026-01-31',
  time: '09:30:00Z',
  duration: 'P1DT2H',
  email: 'name@example.com',
  uri: 'https://example.com/page',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  ipv4: '192.0.2.1',
};

/** ajv's errors as issues that say what was expected and what was found; missing and unknown keys are listed together. */
export function toIssues(errors: readonly ErrorObject[]): OutputIssue[] {
  const issues: OutputIssue[] = [];
  const seen = new Set<string>();
  for (const group of groupErrors(errors)) {
    const issue = { pointer: group.pointer, message: wordError(group.error, group.names) };
    const key = `${issue.pointer} ${issue.message}`;
    if (!seen.has(key)) issues.push(issue);
    seen.add(key);
  }
  const more = issues.length - MOST_ISSUES;
  if (more <= 0) return issues;
  return [...issues.slice(0, MOST_ISSUES), { pointer: '', message: `and ${more} more issues` }];
}

interface ErrorGroup {
  pointer: string;
  error: ErrorObject;
  /** The keys that are missing or unknown. */
  names: string[];
}

// ajv reports one error for each missing or unknown key; those of one object and one keyword belong together.
function groupErrors(errors: readonly ErrorObject[]): ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>();
  for (const error of errors) {
    if (error.keyword === 'if') continue; // says nothing beside the errors of its `then` or `else`
    const name = nameOf(error);
    const key = name === undefined ? `${groups.size}` : `${error.instancePath} ${error.schemaPath}`;
    const group = groups.get(key) ?? { pointer: error.instancePath, error, names: [] };
    if (name !== undefined) group.names.push(name);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function nameOf(error: ErrorObject): string | undefined {
  const params: Record<string, unknown> = error.params;
  const name = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'];
  return typeof name === 'string' ? name : undefined;
}

function wordError(error: ErrorObject, names: readonly string[]): string {
  const found = `; found ${shorten(error.data)}`;
  switch (error.keyword) {
    case 'required':
      return `missing required ${keys(names)}`;
    case 'dependentRequired':
    case 'dependencies':
      return `${quote(paramOf(error, 'property'))} needs ${keys(names)} beside it`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return unknownKeys(error, names);
    case 'type':
      return `must be ${listOf(error.schema, ' or ')}${found}`;
    case 'enum':
      return `must be one of ${values(error.schema)}${found}${suggestion(error)}`;
    case 'const':
      return `must be ${shorten(error.schema)}${found}`;
    case 'format':
      return `must be a valid ${String(error.schema)}${example(error.schema)}${found}`;
    case 'pattern':
      return `must match the pattern ${String(error.schema)}${found}`;
    case 'multipleOf':
      return `must be a multiple of ${String(error.schema)}${found}`;
    default:
      return wordOther(error, found);
  }
}

function wordOther(error: ErrorObject, found: string): string {
  switch (error.keyword) {
    case 'anyOf':
      return `matches none of the shapes in anyOf`;
    case 'oneOf':
      return error.params['passingSchemas'] === null || error.params['passingSchemas'] === undefined
        ? `matches none of the shapes in oneOf`
        : `matches more than one shape in oneOf (${listOf(error.params['passingSchemas'], ' and ')}); exactly one must match`;
    case 'false schema':
      return 'is not allowed here';
    case 'propertyNames':
      return `the key ${quote(paramOf(error, 'propertyName'))} is not allowed by propertyNames`;
    case 'uniqueItems':
      return `items ${paramOf(error, 'j')} and ${paramOf(error, 'i')} are equal; all must differ`;
    default:
      return `${error.message ?? `breaks the rule ${error.keyword}`}${isScalar(error.data) ? found : ''}`;
  }
}

function unknownKeys(error: ErrorObject, names: readonly string[]): string {
  const properties: unknown = error.parentSchema?.['properties'];
  const allowed = isJsonObject(properties) ? Object.keys(properties) : [];
  const hint = names.length === 1 ? didYouMean(names[0] ?? '', allowed) : '';
  const list = allowed.length > 0 ? ` (allowed: ${quoteAll(allowed)})` : '';
  return `unknown ${keys(names)}${list}${hint}`;
}

function keys(names: readonly string[]): string {
  return `${names.length === 1 ? 'key' : 'keys'} ${quoteAll(names)}`;
}

function quoteAll(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return names.slice(0, MOST_NAMES).map(quote).join(', ') + (more > 0 ? `, and ${more} more` : '');
}

function quote(name: string): string {
  return shorten(name);
}

function values(list: unknown): string {
  return Array.isArray(list) ? list.slice(0, MOST_NAMES).map(shorten).join(', ') : shorten(list);
}

function suggestion(error: ErrorObject): string {
  const names = Array.isArray(error.schema) ? error.schema.filter((item) => typeof item === 'string') : [];
  return typeof error.data === 'string' ? didYouMean(error.data, names) : '';
}

function example(format: unknown): string {
  const text = typeof format === 'string' ? FORMAT_EXAMPLES[format] : undefined;
  return text === undefined ? '' : ` (like ${quote(text)})`;
}

function listOf(items: unknown, glue: string): string {
  return Array.isArray(items) ? items.map(String).join(glue) : String(items);
}

function paramOf(error: ErrorObject, name: string): string {
  return String(error.params[name] ?? '');
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

/** A value on one short line: `"abc…"`, `[3 items]`, `{a, b}`. */
export function shorten(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isJsonObject(value)) return `an object with ${Object.keys(value).length} keys`;
  if (typeof value === 'number') return String(value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH).toWellFormed()}…`;
}

/** Issues of a schema itself, found by its metaschema: `type` fails in three ways there, and one of them says it all. */
export function toSchemaIssues(errors: readonly ErrorObject[]): OutputIssue[] {
  const named = new Set(errors.filter((error) => error.keyword === 'enum').map((error) => error.instancePath));
  const plain = errors.filter((error) => !(named.has(error.instancePath) && ['type', 'anyOf'].includes(error.keyword)));
  return toIssues(plain.filter((error) => error.keyword !== 'anyOf' || plain.length === 1));
}

/** The pointer of a location that ajv words as `#/properties/a`. */
export function pointerOf(path: string): string {
  return path.replace(/^#/, '');
}
