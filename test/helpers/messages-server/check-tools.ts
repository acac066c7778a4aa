import Ajv2020 from 'ajv/dist/2020.js';
import { refusedKeywords } from './check-schema.ts';
import { checkServerTool } from './check-server-tools.ts';
import { isRecord, shown, words } from './json-text.ts';
import type { JsonRecord } from './json-text.ts';
import type { Violation } from './types.ts';

const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;
const MAX_STRICT_TOOLS = 20;
const FIELDS = words(
  'type name description input_schema cache_control strict eager_input_streaming allowed_callers defer_loading input_examples',
);
// Tools the service defines; the date that follows is not checked.
const BUILT_IN = /^(bash|text_editor|memory|web_search|web_fetch|code_execution|tool_search_tool_(regex|bm25))_\d{8}$/;

const ajv = new Ajv2020.default({ strict: false, validateFormats: false });

/** Checks tool definitions, and the schema of output_config.format. */
export function* checkTools(body: JsonRecord): Generator<Violation> {
  const tools = body['tools'];
  if (tools !== undefined && !Array.isArray(tools)) yield refuse('tools: Input should be a valid list');
  const list: unknown[] = Array.isArray(tools) ? tools : [];
  for (const [index, tool] of list.entries()) yield* checkTool(tool, `tools.${index}`);
  const names = list.map((tool) => (isRecord(tool) ? tool['name'] : undefined));
  if (new Set(names).size !== names.length) yield refuse('tools: Tool names must be unique.');
  const strict = list.filter((tool) => isRecord(tool) && tool['strict'] === true);
  if (strict.length > MAX_STRICT_TOOLS) yield { rule: 'schema', message: 'Schema is too complex for compilation' };
  yield* checkFormat(body['output_config']);
}

function* checkTool(tool: unknown, path: string): Generator<Violation> {
  if (!isRecord(tool)) {
    yield refuse(`${path}: Input should be a valid dictionary`);
    return;
  }
  const type = tool['type'] ?? 'custom';
  if (type === 'custom') yield* checkCustomTool(tool, `${path}.custom`);
  else if (!BUILT_IN.test(shown(type))) {
    yield refuse(`${path}: Input tag '${shown(type)}' found using 'type' does not match any of the expected tags`);
  } else yield* checkServerTool(tool, path);
}

function* checkCustomTool(tool: JsonRecord, path: string): Generator<Violation> {
  const { name, description, input_schema: schema } = tool;
  if (typeof name !== 'string' || !NAME.test(name)) {
    yield refuse(`${path}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
  }
  if (description !== undefined && typeof description !== 'string')
    yield refuse(`${path}.description: Input should be a valid string`);
  for (const field of Object.keys(tool)) {
    if (!FIELDS.includes(field)) yield refuse(`${path}.${field}: Extra inputs are not permitted`);
  }
  if (!isRecord(schema)) yield refuse(`${path}.input_schema: Field required`);
  else yield* checkInputSchema(schema, `${path}.input_schema`, tool['strict'] === true);
}

function* checkInputSchema(schema: JsonRecord, path: string, strict: boolean): Generator<Violation> {
  if (schema['type'] !== 'object') yield refuse(`${path}.type: Input should be 'object'`);
  if ('oneOf' in schema || 'anyOf' in schema || 'allOf' in schema) {
    yield refuse(`${path}: input_schema does not support oneOf, allOf, or anyOf at the top level`);
  }
  const properties = isRecord(schema['properties']) ? Object.keys(schema['properties']) : [];
  if (!properties.every((key) => PROPERTY.test(key))) {
    yield refuse(`${path}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`);
  }
  const checked = Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'));
  if (ajv.validateSchema(checked) !== true) {
    yield refuse(`${path}: JSON schema is invalid. It must match JSON Schema draft 2020-12 (${ajv.errorsText()})`);
  }
  if (!strict) return;
  for (const message of refusedKeywords(schema, path)) yield { rule: 'schema', message };
}

function* checkFormat(config: unknown): Generator<Violation> {
  const format = isRecord(config) ? config['format'] : undefined;
  if (format === undefined || format === null) return;
  if (!isRecord(format) || format['type'] !== 'json_schema') {
    yield { rule: 'schema', message: "output_config.format.type: Input should be 'json_schema'" };
    return;
  }
  for (const message of refusedKeywords(format['schema'], 'output_config.format.schema'))
    yield { rule: 'schema', message };
}

function refuse(message: string): Violation {
  return { rule: 'tools', message };
}
