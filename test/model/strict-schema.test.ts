import { expect, test } from 'vitest';
import { strictCopy, withoutNulls } from '../../src/model/strict-schema.ts';
import type { JsonObject } from '../../src/core/json.ts';

const SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['a'],
  properties: {
    a: { type: 'string', default: 'x' },
    b: { type: 'integer' },
    c: { enum: ['x', 'y'], type: 'string' },
    d: {
      type: 'array',
      items: { type: 'object', properties: { e: { type: ['string', 'null'] }, f: { type: 'number' } } },
    },
    g: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
};

test('a strict copy closes every object and makes what is optional nullable', () => {
  const before = JSON.stringify(SCHEMA);
  expect(strictCopy(SCHEMA)).toEqual({
    type: 'object',
    additionalProperties: false,
    required: ['a', 'b', 'c', 'd', 'g'],
    properties: {
      a: { type: 'string' },
      b: { type: ['integer', 'null'] },
      c: { enum: ['x', 'y', null], type: ['string', 'null'] },
      d: {
        type: ['array', 'null'],
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['e', 'f'],
          properties: { e: { type: ['string', 'null'] }, f: { type: ['number', 'null'] } },
        },
      },
      g: { anyOf: [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, { type: 'null' }] },
    },
  });
  expect(JSON.stringify(SCHEMA)).toBe(before);
});

test.each([
  { type: 'object' },
  { type: 'object', properties: { a: { type: 'object' } } },
  { type: 'object', properties: { a: {} }, additionalProperties: { type: 'string' } },
  { type: 'object', properties: { a: {} }, patternProperties: { x: {} } },
  { type: 'object', properties: { a: { anyOf: [{ type: 'object' }] } } },
])('%j has no strict copy, for it would forbid what the schema allows', (schema) => {
  expect(strictCopy(schema)).toBeUndefined();
});

test('nulls for absent optional properties are taken out, and nothing else changes', () => {
  const kept = '{"id": 2512292042121000001,  "a": "null"}';
  expect(withoutNulls(kept, SCHEMA)).toBe(kept);
  const given = '{"a":null,"b":null,"c":null,"d":[{"e":null,"f":null},{"f":1.0}],"z":null}';
  expect(withoutNulls(given, SCHEMA)).toBe('{"a":null,"d":[{"e":null},{"f":1.0}],"z":null}');
  expect(withoutNulls('{"a": null', SCHEMA)).toBe('{"a": null');
});
