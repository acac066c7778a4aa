// The task's own schema, compiled by ajv. Imported lazily: a compiled validator can replace this file without a trace.

import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import schema from '../../schemas/task.schema.json' with { type: 'json' };
import type { JsonValue } from './json.ts';

/** One broken rule of the schema, as ajv reports it. */
export interface SchemaError {
  keyword: string;
  instancePath: string;
  schemaPath: string;
  params: Record<string, unknown>;
  propertyName?: string;
  /** The rule's value, the part of the schema that holds it, and the value that was judged. */
  schema?: unknown;
  parentSchema?: unknown;
  data?: unknown;
}

let validator: ReturnType<Ajv2020['compile']> | undefined;

/** Every rule of schemas/task.schema.json that the value breaks; numbers must be finite. */
export function taskSchemaErrors(value: JsonValue): SchemaError[] {
  validator ??= compile();
  return validator(value) ? [] : (validator.errors ?? []);
}

function compile(): ReturnType<Ajv2020['compile']> {
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: false });
  formats.default(ajv);
  return ajv.compile(schema);
}
