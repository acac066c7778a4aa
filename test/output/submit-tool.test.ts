import { describe, expect, test } from 'vitest';
import { compileSchema } from '../../src/core/json-schema.ts';
import type { JsonValue } from '../../src/core/json.ts';
import { createSubmitTool } from '../../src/output/submit-tool.ts';

const inputSchema = (schema: JsonValue) => createSubmitTool(schema).definition.input_schema;

async function accepts(schema: unknown, value: JsonValue): Promise<boolean> {
  const dialect = { $schema: 'https://json-schema.org/draft/2020-12/schema' };
  const compiled = await compileSchema({ ...(schema as object), ...dialect }, { source: 'tool' });
  return compiled.ok && compiled.validate(value).length === 0;
}

describe('the submit tool', () => {
  test('takes a plain object schema as its input', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, $defs: { b: {} } };
    expect(inputSchema({ $schema: 'http://json-schema.org/draft-07/schema#', ...schema })).toEqual(schema);
    expect(createSubmitTool(schema).wrapped).toBe(false);
  });

  test.each<[string, JsonValue]>([
    ['a union', { oneOf: [{ type: 'object' }, { type: 'object' }] }],
    ['an object that is also a union', { type: 'object', anyOf: [{ required: ['a'] }] }],
    ['a reference', { $ref: '#/$defs/a', $defs: { a: { type: 'object' } } }],
    ['a list', { type: 'array' }],
    ['anything', true],
    ['an object with names that services refuse', { type: 'object', properties: { 'a b': {} } }],
  ])('B053: holds %s under one key of an object root', (_what, schema) => {
    const tool = createSubmitTool(schema);
    expect(tool.wrapped).toBe(true);
    expect(tool.definition.input_schema).toMatchObject({
      type: 'object',
      required: ['result'],
      additionalProperties: false,
    });
    expect(tool.definition.description).toContain('"result"');
    for (const combiner of ['oneOf', 'anyOf', 'allOf', '$ref'])
      expect(tool.definition.input_schema).not.toHaveProperty(combiner);
  });

  test('keeps references working where the schema has moved', async () => {
    const schema = {
      anyOf: [{ $ref: '#/$defs/leaf' }, { type: 'array', items: { $ref: '#' } }, { $ref: '#/definitions/old' }],
      $defs: { leaf: { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] } },
      definitions: { old: { const: 1 } },
    };
    const wrapped = inputSchema(schema);
    expect(wrapped).toHaveProperty('$defs.leaf');
    expect(await accepts(wrapped, { result: [{ next: [[1]] }] })).toBe(true);
    expect(await accepts(wrapped, { result: [{ next: 2 }] })).toBe(false);
    expect(schema.anyOf[0]).toEqual({ $ref: '#/$defs/leaf' });
  });

  test('says in 2020-12 what an older draft says otherwise', async () => {
    const pair = { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false };
    const schema = inputSchema({
      $id: 'https://x.example/s',
      type: 'object',
      properties: { p: pair, q: { $ref: 'https://x.example/s#/properties/p' } },
    });
    expect(await accepts(schema, { p: ['a', 1], q: ['b', 2] })).toBe(true);
    expect(await accepts(schema, { p: ['a', 1, 2] })).toBe(false);
    expect(await accepts(schema, { q: [1] })).toBe(false);
  });

  test('does not touch what only looks like a reference', () => {
    const schema = { type: 'array', items: { properties: { $ref: { type: 'string' } }, const: { $ref: '#/x' } } };
    expect(inputSchema(schema)).toMatchObject({ properties: { result: schema } });
  });
});
