import { expect, test } from 'vitest';
import { missedFindings } from '../../src/core/findings.ts';
import { idlePointers } from '../../src/core/findings-schema.ts';
import type { JsonValue } from '../../src/core/json.ts';

const ITEM = { type: 'object', properties: { file: { type: 'string' } }, additionalProperties: false };
const CLOSED = {
  type: 'object',
  properties: { findings: { type: 'array', items: { $ref: '#/$defs/item' } } },
  additionalProperties: false,
  $defs: { item: ITEM },
};

test.each<[JsonValue | undefined, string, string, RegExp]>([
  [CLOSED, '/finding', '/file', /^findings\.items: found "\/finding", but output\.schema allows nothing there$/],
  [CLOSED, '/findings', '/fil', /^findings\.path: found "\/fil", but output\.schema allows nothing there in an item$/],
  [{ properties: { findings: { type: 'object' } } }, '/findings', '/file', /allows no list there$/],
  [{ anyOf: [{ type: 'string' }, CLOSED] }, '/finding', '/file', /allows nothing there$/],
  [{ allOf: [{ type: 'object' }, CLOSED] }, '/finding', '/file', /allows nothing there$/],
  [{ type: 'array', items: ITEM }, '/findings', '/file', /allows nothing there$/],
  [{ type: 'array', prefixItems: [ITEM], items: false }, '/1', '/file', /allows nothing there$/],
  [undefined, '/findings', '/file', /the output is a text, which holds no list$/],
])('a schema that is %j can have no findings at %j with %j', (schema, items, path, message) => {
  expect(idlePointers(schema, { items, path })).toEqual([expect.stringMatching(message)]);
});

const DOUBLING = Object.fromEntries(
  Array.from({ length: 60 }, (_, index) => [
    `d${index}`,
    { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
  ]),
);

test.each<[string, JsonValue]>([
  ['names them', CLOSED],
  ['is open', { type: 'object' }],
  ['allows all', true],
  ['has members by pattern', { patternProperties: { '^f': {} }, additionalProperties: false }],
  ['has one form with them', { oneOf: [{ type: 'null' }, CLOSED] }],
  ['refers to itself', { $ref: '#' }],
  ['refers to nothing that is there', { $ref: 'other.json' }],
  ['doubles at each step', { $ref: '#/$defs/d0', $defs: DOUBLING }],
])('nothing is said of a schema that %s', (_what, schema) => {
  expect(idlePointers(schema, { items: '/findings', path: '/file' })).toEqual([]);
});

test.each<[JsonValue, string | null]>([
  [{ findings: [] }, null],
  [{ findings: { a: 1 } }, '"/findings" names an object in the output, not a list'],
  [{ findings: 'none' }, '"/findings" names a text in the output, not a list'],
  [{ finding: [] }, '"/findings" names nothing in the output'],
  ['text', '"/findings" names nothing in the output'],
])('of the output %j is said %j', (output, said) => {
  const all = said && `findings.items: ${said}, so how many findings there are is not known`;
  expect(missedFindings(output, { items: '/findings' })).toBe(all);
});
