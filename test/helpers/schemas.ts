import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const ajv = new Ajv2020({ allErrors: true, strict: false });
formats.default(ajv);

/** What a value has against one of the schemas we publish, as "pointer keyword" texts; none when it is valid. */
export function schemaErrors(name: 'result' | 'usage' | 'transcript' | 'report' | 'diff', value: unknown): string[] {
  const file = new URL(`../../schemas/${name}.schema.json`, import.meta.url);
  const schema = JSON.parse(readFileSync(file, 'utf8')) as { $id?: string };
  const validate = (schema.$id === undefined ? undefined : ajv.getSchema(schema.$id)) ?? ajv.compile(schema);
  validate(JSON.parse(JSON.stringify(value)));
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.keyword} ${error.message ?? ''}`);
}
