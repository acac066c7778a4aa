// The output's schema and gate: inline, or read from the files the task names.

import type { OutputConfig } from '../core/config.ts';
import { compileSchema } from '../core/json-schema.ts';
import type { JsonValue } from '../core/json.ts';
import { type Building, namedBy, parseNamed, readNamed } from './building.ts';
import { type Issue, issuesError } from './issues.ts';

export async function buildOutput(building: Building): Promise<OutputConfig> {
  const fields = building.task.output ?? {};
  const schema = await readSchema(building, fields.schema, '/output/schema');
  const gate = await readSchema(building, fields.gate, '/output/gate');
  return {
    ...(schema === undefined ? {} : { schema: schema.value }),
    ...(schema?.file === undefined ? {} : { schema_file: schema.file }),
    repair_attempts: fields.repair_attempts ?? 2,
    ...(gate === undefined ? {} : { gate: gate.value }),
    ...(gate?.file === undefined ? {} : { gate_file: gate.file }),
  };
}

async function readSchema(
  building: Building,
  written: JsonValue | undefined,
  pointer: string,
): Promise<{ value: JsonValue; file?: string } | undefined> {
  if (written === undefined) return undefined;
  if (typeof written !== 'string') {
    for (const issue of await schemaIssues(written, pointer)) {
      building.issues.push({ pointer: `${pointer}${issue.pointer}`, message: issue.message });
    }
    return { value: written };
  }
  const source = await readNamed(building, written, pointer);
  if (!source) return undefined;
  const value = await parseNamed(building, source, pointer);
  const issues = await schemaIssues(value, source.file);
  if (issues.length === 0) return { value, file: source.file };
  const by = await namedBy(building, pointer);
  throw await issuesError(
    source,
    issues.map((issue) => ({ ...issue, message: `${issue.message}${by}` })),
  );
}

/** Why a schema does not compile; here, because only here its lines are known. */
async function schemaIssues(value: JsonValue, name: string): Promise<Issue[]> {
  const compiled = await compileSchema(value, { source: name });
  if (compiled.ok) return [];
  return compiled.issues.map(({ pointer, message }) => ({
    pointer,
    message: `the schema does not compile: ${message}`,
  }));
}
