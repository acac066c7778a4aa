import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import type { ToolDefinition } from '../core/messages.ts';
import { modernise } from '../core/offered-schema.ts';
import { walkSchema } from '../core/schema-walk.ts';

export const SUBMIT_TOOL = 'submit_result';
/** The key that holds the output where the schema itself cannot be a tool's input. */
export const WRAPPER_KEY = 'result';

export interface SubmitTool {
  definition: ToolDefinition;
  wrapped: boolean;
}

const CALL_IT =
  'Hands over the final output of the task. Call it once, when everything else is done, with the whole output; ' +
  'text outside this call is not part of the output. If it answers with errors, mend the value and call it again.';

/** The tool that takes an output of this schema: the schema is its input, or stands under one key where services refuse it as a root. */
export function createSubmitTool(schema: JsonValue): SubmitTool {
  const wrapped = !isPlainRoot(schema);
  const description = wrapped ? `${CALL_IT} The output is the value of "${WRAPPER_KEY}".` : CALL_IT;
  const input_schema = wrapped ? wrap(schema) : modernise(schema);
  return { wrapped, definition: { name: SUBMIT_TOOL, description, input_schema } };
}

const ROOT_COMBINERS = [
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'enum',
  'const',
];

function isPlainRoot(schema: JsonValue): schema is JsonObject {
  if (!isJsonObject(schema) || schema['type'] !== 'object') return false;
  if (ROOT_COMBINERS.some((keyword) => keyword in schema)) return false;
  const properties = isJsonObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  return properties.every((name) => /^[\w.-]{1,64}$/.test(name)); // services take no other names at the root
}

function wrap(schema: JsonValue): JsonObject {
  const inner = isJsonObject(schema) ? modernise(schema) : schema;
  const shared: JsonObject = {};
  if (isJsonObject(inner)) {
    for (const keyword of ['$defs', 'definitions']) {
      if (inner[keyword] !== undefined) shared[keyword] = inner[keyword];
      delete inner[keyword];
    }
    // Shared definitions stay where references expect them; all other places have moved down.
    for (const { node } of [...walkSchema(inner), ...walkSchema(shared)]) moveReference(node);
  }
  return {
    type: 'object',
    properties: { [WRAPPER_KEY]: inner },
    required: [WRAPPER_KEY],
    additionalProperties: false,
    ...shared,
  };
}

function moveReference(node: JsonObject): void {
  const reference = node['$ref'];
  if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) return;
  if (/^#\/(?:\$defs|definitions)\//.test(reference)) return;
  node['$ref'] = `#/properties/${WRAPPER_KEY}${reference.slice(1)}`;
}
