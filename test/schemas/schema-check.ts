import { readFileSync } from 'node:fs';
import { compileSchema } from '../../src/core/json-schema.ts';
import type { JsonObject, JsonValue } from '../../src/core/json.ts';

/** One of the schemas we ship, by the name of its file. */
export function readSchema(name: string): JsonObject {
  const text = readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8');
  return JSON.parse(text) as JsonObject; // our own file, an object by its first character
}

/** A check against one of the schemas we ship: issues as `pointer: message`, none when the value is valid. */
export async function schemaCheck(name: string): Promise<(value: unknown) => string[]> {
  const compiled = await compileSchema(readSchema(name), { source: name });
  if (!compiled.ok) throw new Error(`${name}: ${JSON.stringify(compiled.issues)}`);
  if (compiled.warnings.length > 0) throw new Error(compiled.warnings.join('\n'));
  return (value) => {
    const plain = JSON.parse(JSON.stringify(value)) as JsonValue; // as it stands in a file
    return compiled.validate(plain).map((issue) => `${issue.pointer}: ${issue.message}`);
  };
}
