import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { elementsOf, mapStrings, membersOf, objectText, textAt } from '../../src/model/json-text.ts';

const spaced = fc.tuple(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), fc.integer({ min: 0, max: 3 }));

test('the members of any object give the object again', () => {
  fc.assert(
    fc.property(spaced, ([value, indent]) => {
      const text = JSON.stringify(value, undefined, indent);
      const members = membersOf(text);
      expect(members.map(({ key }) => key)).toEqual(Object.keys(value));
      expect(JSON.stringify(JSON.parse(objectText(members)))).toBe(JSON.stringify(value));
    }),
  );
});

test('members keep spelling, order and repetition', () => {
  expect(membersOf('{"b": 1.0,"a":[1e5, {"x":"}"}] ,"b":"\\u0041\\""}')).toEqual([
    { key: 'b', text: '1.0' },
    { key: 'a', text: '[1e5, {"x":"}"}]' },
    { key: 'b', text: '"\\u0041\\""' },
  ]);
  expect(membersOf(' { } ')).toEqual([]);
});

test('elements and what lies at a path keep their spelling', () => {
  expect(elementsOf('[ 1.0, {"a":[2 ]},"],", [] ]')).toEqual(['1.0', '{"a":[2 ]}', '"],"', '[]']);
  expect(elementsOf('[]')).toEqual([]);
  const json = ' {"a":[{"b": 1e2 ,"b":{"c":1.0} }]}';
  expect(textAt(json, ['a', 0, 'b'])).toBe('{"c":1.0}');
  expect([textAt(json, ['a', 1, 'b']), textAt(json, ['x']), textAt(json, ['a', 'b'])]).toEqual(
    Array(3).fill(undefined),
  );
});

test('text whose strings stay the same stays the same to the byte', () => {
  fc.assert(
    fc.property(spaced, ([value, indent]) => {
      const text = JSON.stringify(value, undefined, indent);
      expect(mapStrings(text, (string) => string)).toBe(text);
    }),
  );
});

test('strings are replaced with their escapes, and a value is told its key', () => {
  const text = '{"key\\n":"se\\u0063ret \\"quoted\\"","n":1.0,"list":["secret"],"signature":"secret"}';
  const changed = mapStrings(text, (string, key) => (key === 'signature' ? string : string.replaceAll('secret', '"')));
  expect(changed).toBe('{"key\\n":"\\" \\"quoted\\"","n":1.0,"list":["\\""],"signature":"secret"}');
});
