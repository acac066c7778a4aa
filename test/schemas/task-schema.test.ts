import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { isJsonObject } from '../../src/core/json.ts';

const ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictTuples: false, strictRequired: false });
formats.default(ajv);
const schema: unknown = JSON.parse(readFileSync(new URL('../../schemas/task.schema.json', import.meta.url), 'utf8'));
const validate = ajv.compile(schema as object);
const minimal = { prompt: 'Say hello.', model: 'claude-sonnet-5-5' };

function errorsOf(task: unknown): string[] {
  validate(task);
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.keyword}`);
}

interface Field {
  pointer: string;
  field: Record<string, unknown>;
}

// Every named property of every object, and every shared definition, with its pointer inside the schema.
function fieldsOf(node: unknown, pointer = ''): Field[] {
  if (!isJsonObject(node)) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    if (['examples', 'default', 'if', 'then', 'allOf', 'oneOf', 'items'].includes(key)) return [];
    const at = `${pointer}/${key}`;
    const named = /\/(properties|\$defs)$/.test(pointer) && isJsonObject(value);
    return [...(named ? [{ pointer: at, field: value }] : []), ...fieldsOf(value, at)];
  });
}

const fields = fieldsOf(schema);

describe('the task schema', () => {
  test('accepts the smallest task', () => {
    expect(errorsOf(minimal)).toEqual([]);
  });

  test('describes every field', () => {
    // Shapes without a meaning of their own, and a constraint on the user's schema.
    const shapes = ['/$defs/texts', '/$defs/count', '/$defs/custom_tool/properties/input_schema/properties/type'];
    const bare = fields.filter(({ field }) => !('description' in field) && !('$ref' in field));
    expect(bare.map(({ pointer }) => pointer).filter((at) => !shapes.includes(at))).toEqual([]);
  });

  test('gives examples and defaults that it accepts itself', () => {
    for (const { pointer, field } of fields) {
      const check = ajv.compile({ $ref: `task.schema.json#${pointer}` });
      const values = [
        ...((field['examples'] as unknown[] | undefined) ?? []),
        ...('default' in field ? [field['default']] : []),
      ];
      for (const value of values) expect([pointer, value, check(value)]).toEqual([pointer, value, true]);
    }
  });

  test.each([
    ['an unknown key', { promt: 'x' }, ' additionalProperties'],
    ['a limit that is not finite', { limits: { max_turns: Number.POSITIVE_INFINITY } }, '/limits/max_turns type'],
    ['a negative limit', { limits: { max_cost_usd: -1 } }, '/limits/max_cost_usd exclusiveMinimum'],
    ['a duration without a unit', { limits: { timeout: '90' } }, '/limits/timeout pattern'],
    ['a duration of zero', { limits: { timeout: '0s' } }, '/limits/timeout pattern'],
    ['a timeout that is a number', { limits: { timeout: 2147483648 } }, '/limits/timeout type'],
    ['bash without allow', { tools: { bash: {} } }, '/tools/bash required'],
    ['bash: true', { tools: { bash: true } }, '/tools/bash type'],
    ['a context item of two kinds', { context: [{ git: 'diff', files: ['a'] }] }, '/context/0 oneOf'],
    ['a base without git', { context: [{ files: ['a'], base: 'main' }] }, '/context/0 dependentRequired'],
    ['an MCP server without tools', { mcp_servers: { a: { command: 'x' } } }, '/mcp_servers/a required'],
    ['a model without id', { model: { provider: 'anthropic' } }, '/model required'],
    ['a gate without a schema', { output: { gate: 'gate.json' } }, '/output dependentRequired'],
    [
      'a fallback of a fallback',
      { model: { id: 'a', fallback: [{ id: 'b', fallback: ['c'] }] } },
      '/model/fallback/0/fallback false schema',
    ],
  ])('refuses %s', (_what, change, error) => {
    expect(errorsOf({ ...minimal, ...change })).toContain(error);
  });
});
