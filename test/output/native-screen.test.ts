import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/core/json.ts';
import { nativeObstacle } from '../../src/output/native-screen.ts';

const object = (properties: Record<string, JsonValue>, more: Record<string, JsonValue> = {}) => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
  ...more,
});
const text = { type: 'string' };

test('a schema of supported keywords goes as it is', () => {
  const schema = object(
    {
      a: { type: 'string', pattern: '^[a-z]+$', description: 'x' },
      b: { type: 'array', items: { $ref: '#/$defs/leaf' }, minItems: 1 },
      c: { anyOf: [text, { type: 'null' }], default: null },
      d: { enum: ['x', 1, null] },
      e: { type: 'string', format: 'date-time' },
      f: { allOf: [object({ g: { const: true } })] },
    },
    { $defs: { leaf: object({ n: { type: 'integer' } }) }, title: 'T' },
  );
  expect(nativeObstacle(schema)).toBeUndefined();
});

test.each<[string, JsonValue, string]>([
  ['a root that is no object', { type: 'array', items: text }, 'the root is no plain object'],
  ['an open object', { type: 'object', properties: { a: text } }, 'root: an object open to further keys'],
  ['a range', object({ a: { type: 'number', minimum: 1 } }), '/properties/a: "minimum" is not supported'],
  ['a length', object({ a: { type: 'string', maxLength: 1 } }), '/properties/a: "maxLength" is not supported'],
  ['oneOf', object({ a: { oneOf: [text] } }), '/properties/a: "oneOf" is not supported'],
  ['two items at least', object({ a: { type: 'array', items: text, minItems: 2 } }), '/properties/a: "minItems" above 1'],
  ['a list of types', object({ a: { type: ['string', 'null'] } }), '/properties/a: a list of types'],
  ['an empty schema', object({ a: {} }), '/properties/a: a schema without a type'],
  ['an enum of objects', object({ a: { enum: [{ b: 1 }] } }), '/properties/a: an enum of objects'],
  ['lookahead', object({ a: { type: 'string', pattern: '^(?!x)' } }), '/properties/a: the pattern ^(?!x)'],
  ['a back reference', object({ a: { type: 'string', pattern: String.raw`(a)\1` } }), String.raw`/properties/a: the pattern (a)\1`],
  ['another format', object({ a: { type: 'string', format: 'regex' } }), '/properties/a: the format "regex"'],
  ['old definitions', object({ a: text }, { definitions: {} }), 'root: "definitions" is not supported'],
  ['a reference in allOf', object({ a: { allOf: [{ $ref: '#/$defs/b' }] } }, { $defs: { b: text } }), '/properties/a: a reference inside allOf'],
  ['recursion', object({ a: { $ref: '#/$defs/n' } }, { $defs: { n: object({ b: { anyOf: [text, { $ref: '#/$defs/n' }] } }) } }), 'it is recursive'],
  ['many optional properties', { ...object(Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`p${index}`, text]))), required: [] }, '25 optional properties'],
])('%s goes through the tool', (_what, schema, obstacle) => {
  expect(nativeObstacle(schema)).toBe(obstacle);
}); // prettier-ignore
