import type { ErrorObject, ValidateFunction } from 'ajv';
import { errorText } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import type { OutputIssue } from './outcome.ts';
import { badPatterns, badReferences, endlessReferences, idleKeywords } from './schema-check.ts';
import { dialectAddresses, dialectName, dropDialect, loadDialect, type Dialect } from './schema-dialects.ts';
import { pointerOf, shorten, toIssues, toSchemaIssues } from './schema-issues.ts';
import { withinTime } from './time-bound.ts';

const MAX_SCHEMA_BYTES = 512 * 1024;
const COMPILE_LIMIT_MS = 5000;
const VALIDATE_LIMIT_MS = 1000;

export interface CompileOptions {
  /** What the schema is called in warnings: a file's name, or "output.schema". */
  source: string;
  /** Milliseconds one validation may take; longer is an issue of its own. */
  time_limit_ms?: number;
}

/** Issues of a value, none when it is valid. Never throws, and always ends. */
export type Validate = (value: JsonValue) => OutputIssue[];
export type CompiledSchema =
  | { ok: true; validate: Validate; warnings: string[] }
  | { ok: false; issues: OutputIssue[] };

/** Compiles a JSON Schema of the draft its `$schema` names (default draft-07); issues carry pointers into the schema. */
export async function compileSchema(schema: unknown, options: CompileOptions): Promise<CompiledSchema> {
  if (!isSchema(schema)) return refuse('', `a schema is an object, true or false; found ${shorten(schema)}`);
  const address = isJsonObject(schema) ? schema['$schema'] : undefined;
  const name = dialectName(address);
  if (name === undefined) {
    return refuse('/$schema', `unknown schema version ${shorten(address)}; known: ${dialectAddresses().join(', ')}`);
  }
  return compileBounded(await loadDialect(name), schema, options);
}

function compileBounded(dialect: Dialect, schema: JsonSchema, options: CompileOptions): CompiledSchema {
  try {
    const size = JSON.stringify(schema).length;
    if (size > MAX_SCHEMA_BYTES) return refuse('', `the schema has ${size} bytes; the limit is ${MAX_SCHEMA_BYTES}`);
    const compiled = withinTime(COMPILE_LIMIT_MS, () => compileWith(dialect, schema, options));
    if (compiled.ok) return compiled.value;
    dropDialect(dialect.name);
    return refuse('', `the schema could not be compiled within ${COMPILE_LIMIT_MS} ms; make it simpler`);
  } catch (error) {
    // ajv throws for what the metaschema does not see: a RangeError for nesting without end, else a reference or id.
    return refuse('', error instanceof RangeError ? 'the schema is nested too deeply' : errorText(error));
  }
}

function compileWith(dialect: Dialect, schema: JsonSchema, options: CompileOptions): CompiledSchema {
  const { ajv } = dialect;
  const plain = withoutAddress(schema);
  const broken = [
    () => badPatterns(schema), // before the metaschema, which would not say why
    () => (dialect.accepts(plain) || ajv.validateSchema(plain) === true ? [] : toSchemaIssues(ajv.errors ?? [])),
    () => badReferences(schema),
    () => endlessReferences(schema),
  ];
  for (const find of broken) {
    const issues = find();
    if (issues.length > 0) return { ok: false, issues };
  }
  dialect.takeRemarks();
  const check = ajv.compile(plain);
  const remarks = dialect.takeRemarks().map(wordRemark);
  const idle = idleKeywords(
    schema,
    dialect.name,
    (keyword) => keyword.startsWith('$') || ajv.getKeyword(keyword) !== false,
  );
  const warnings = [...new Set([...remarks, ...idle])].map((warning) => `${options.source}: ${warning}`);
  return { ok: true, validate: boundedCheck(check, options.time_limit_ms ?? VALIDATE_LIMIT_MS), warnings };
}

function boundedCheck(check: ValidateFunction, limit_ms: number): Validate {
  return (value) => {
    try {
      const done = withinTime(limit_ms, () => errorsOf(check, value));
      return done.ok ? toIssues(done.value) : [tooSlow(limit_ms)];
    } catch (error) {
      if (error instanceof RangeError)
        return [{ pointer: '', message: 'the value is nested too deeply to be checked' }];
      throw error;
    }
  };
}

function errorsOf(check: ValidateFunction, value: JsonValue): ErrorObject[] {
  return check(value) ? [] : (check.errors ?? []);
}

function tooSlow(limit_ms: number): OutputIssue {
  return {
    pointer: '',
    message: `could not be checked within ${limit_ms} ms: send a shorter value, or make the schema's patterns simpler`,
  };
}

// The draft is chosen by us; ajv would look the address up once more, to the letter.
function withoutAddress(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean') return schema;
  const { $schema: _address, ...rest } = schema;
  return rest;
}

type JsonSchema = boolean | JsonObject;

function isSchema(schema: unknown): schema is JsonSchema {
  return typeof schema === 'boolean' || isJsonObject(schema);
}

function wordRemark(remark: string): string {
  const match = /^unknown format "(.*)" ignored in schema at path "(.*)"$/s.exec(remark);
  return match
    ? `${pointerOf(match[2] ?? '') || 'root'}: the format "${match[1]}" is not known and not checked`
    : remark;
}

function refuse(pointer: string, message: string): CompiledSchema {
  return { ok: false, issues: [{ pointer, message }] };
}
