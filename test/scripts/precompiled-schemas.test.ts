import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleOptions } from '../../scripts/bundle-options.mjs';
import { loadDialect } from '../../src/core/schema-dialects.ts';
import { taskSchemaErrors } from '../../src/core/task-validator.ts';
import type { JsonValue } from '../../src/core/json.ts';

let folder = '';
let inputs: string[] = [];
let compiled: typeof taskSchemaErrors;
let isTask: (value: JsonValue) => boolean;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'precompiled-'));
  const entryPoints = { validator: 'src/core/task-validator.ts', check: 'src/core/task-check.ts' };
  const { metafile } = await build({ ...bundleOptions, entryPoints, outdir: folder });
  inputs = Object.keys(metafile.inputs);
  const module: unknown = await import(pathToFileURL(join(folder, 'validator.mjs')).href);
  compiled = (module as { taskSchemaErrors: typeof taskSchemaErrors }).taskSchemaErrors; // the one export of the source
  const quick: unknown = await import(pathToFileURL(join(folder, 'check.mjs')).href);
  isTask = (quick as { isTask: typeof isTask }).isTask; // again the one export
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FIELDS: Record<string, fc.Arbitrary<JsonValue>> = {
  prompt: fc.constantFrom<JsonValue>('x', '', ['a', { file: 'b' }], { file: '' }, 1),
  model: fc.constantFrom<JsonValue>('m', { id: 'm' }, { provider: 'script', script: { turns: [] } }, { provider: 'x' }),
  tools: fc.constantFrom<JsonValue>({ bash: {} }, { bash: { allow: ['ls'] } }, { grep: true }, { grep: 'x' }),
  limits: fc.constantFrom<JsonValue>({ max_turns: 1 }, { max_turns: 0 }, { timeout: '1m' }, { timeout: 'x' }),
  output: fc.constantFrom<JsonValue>({ schema: {} }, { schema: 'a.json', gate: 'b.json' }, { repair_attempts: -1 }),
  context: fc.constantFrom<JsonValue>(
    [],
    [{ git: 'diff', base: 'a' }],
    [{ files: [] }],
    [{ git: 'log', files: ['a'] }],
  ),
  sandbox: fc.constantFrom<JsonValue>({ mode: 'off' }, { mode: 'of' }, { network: ['a.b'] }, { network: 1 }),
  promt: fc.constant('x'),
};

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

test('the quick check in the bundle says yes to what ajv finds no fault in, and only to that', () => {
  fc.assert(
    fc.property(fc.record(FIELDS, { requiredKeys: [] }), (fields) => {
      const task = fields as JsonValue; // no field of it is undefined
      expect(isTask(task)).toBe(taskSchemaErrors(task).length === 0);
    }),
    { numRuns: 500 },
  );
  expect(TASKS.map((task) => isTask(task))).toEqual(TASKS.map((task) => taskSchemaErrors(task).length === 0));
});

test('the validator in the bundle brings neither ajv itself nor the schema to be compiled', () => {
  expect(
    inputs.filter((path) => /ajv\/dist\/(core|ajv|2020|compile\/index)\.js$|task\.schema\.json$/.test(path)),
  ).toEqual([]);
});

const SCHEMAS: JsonValue[] = [
  {},
  true,
  {
    type: 'object',
    properties: { a: { type: 'string', pattern: '^a' } },
    required: ['a'],
    additionalProperties: false,
  },
  { type: 'text' },
  { properties: { a: { minLength: -1 } } },
  { required: 'a' },
  { items: [{ type: 'string' }] },
  { prefixItems: [{ type: 'string' }], items: false },
  { $defs: { a: { enum: [] } } },
  { definitions: { a: { type: ['string', 'string'] } } },
  { dependentRequired: { a: 'b' } },
  { $ref: '#/$defs/a', $defs: { a: { const: 1 } } },
  { anyOf: [] },
  { multipleOf: 0 },
  { $id: 'a b' },
];

test.each(['draft-07', '2019-09', '2020-12'] as const)(
  'the metaschema of %s in the bundle accepts what ajv accepts',
  async (name) => {
    const entryPoints = { [name]: `src/core/metaschema-${name}.ts` };
    const { metafile } = await build({ ...bundleOptions, entryPoints, outdir: folder });
    const module: unknown = await import(pathToFileURL(join(folder, `${name}.mjs`)).href);
    const { accepts } = module as { accepts: (schema: JsonValue) => boolean }; // the one export of the source
    const { ajv } = await loadDialect(name);
    expect(SCHEMAS.map((schema) => accepts(schema))).toEqual(
      SCHEMAS.map((schema) => ajv.validateSchema(schema as object) === true),
    );
    expect(SCHEMAS.map((schema) => accepts(schema))).toContain(false);
    expect(
      Object.keys(metafile.inputs).filter((path) => /ajv\/dist\/(core|ajv|compile\/index)\.js$/.test(path)),
    ).toEqual([]);
  },
);
