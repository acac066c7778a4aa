import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleOptions } from '../../scripts/bundle-options.mjs';
import { taskSchemaErrors } from '../../src/core/task-validator.ts';
import type { JsonValue } from '../../src/core/json.ts';

let folder = '';
let inputs: string[] = [];
let compiled: typeof taskSchemaErrors;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'precompiled-'));
  const entryPoints = { validator: 'src/core/task-validator.ts' };
  const { metafile } = await build({ ...bundleOptions, entryPoints, outdir: folder });
  inputs = Object.keys(metafile.inputs);
  const module: unknown = await import(pathToFileURL(join(folder, 'validator.mjs')).href);
  compiled = (module as { taskSchemaErrors: typeof taskSchemaErrors }).taskSchemaErrors; // the one export of the source
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TASKS: JsonValue[] = [
  { prompt: 'x', model: 'm' },
  { promt: 'x', model: { provider: 'anthropc' }, limits: { max_turns: 0, timeout: '90', max_cost_usd: -1 } },
  { prompt: ['a', { file: 1 }], model: { id: 'm', script: 'x' }, tools: { bash: true, grep: false } },
  {
    prompt: 'x',
    model: 'm',
    context: [{}, { git: 'diff', files: ['a'] }, { base: 'x' }],
    inputs: { a: { pattern: '(' } },
  },
];

test.each(TASKS)('the validator in the bundle finds what ajv finds: %j', (task) => {
  const facts = (errors: ReturnType<typeof taskSchemaErrors>): unknown =>
    errors.map(({ keyword, instancePath, params, data, schema, parentSchema }) => ({
      keyword,
      instancePath,
      params,
      data,
      schema,
      parentSchema,
    }));
  expect(facts(compiled(task))).toEqual(facts(taskSchemaErrors(task)));
});

test('the validator in the bundle brings neither ajv itself nor the schema to be compiled', () => {
  expect(
    inputs.filter((path) => /ajv\/dist\/(core|ajv|2020|compile\/index)\.js$|task\.schema\.json$/.test(path)),
  ).toEqual([]);
});
