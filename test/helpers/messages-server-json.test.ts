import { assert, constantFrom, jsonValue, property } from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalText, findLoneSurrogate, readJsonText } from './messages-server/json-text.ts';

test('any JSON value reads back as JSON.stringify writes it, however it is spaced', () => {
  const spacing = constantFrom(undefined, 1, '\t', '\n');
  assert(
    property(jsonValue(), spacing, (value, space) => {
      expect(canonicalText(readJsonText(JSON.stringify(value, null, space)))).toBe(JSON.stringify(value));
    }),
  );
});

test('number spelling, key order and repeated keys survive; white space and escapes do not', () => {
  const text = ' { "b" : 1.0 , "a":[ 1E+2, 12345678901234567890,-0 ] , "b":"\\u0041\\/\\"\\\\" } ';
  expect(canonicalText(readJsonText(text))).toBe('{"b":1.0,"a":[1E+2,12345678901234567890,-0],"b":"A/\\"\\\\"}');
});

test('text that is no JSON is a SyntaxError', () => {
  for (const text of ['', '{', '[1,]', '{"a":01}', '"\\x"', '{} {}'])
    expect(() => readJsonText(text)).toThrow(SyntaxError);
});

test('a lone surrogate is found in values and keys, a pair is not', () => {
  expect(findLoneSurrogate(readJsonText('{"a":["\\ud83d\\ude00",{"b":"\\ud83d"}]}'))).toBe('a.1.b');
  expect(findLoneSurrogate(readJsonText('{"\\ude00":1}'))).toBe('\ude00');
  expect(findLoneSurrogate(readJsonText('{"a":"\\ud83d\\ude00"}'))).toBeUndefined();
});
