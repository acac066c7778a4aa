import { describe, expect, test } from 'vitest';
import { parseJson, stringifyJson } from '../../src/core/json.ts';

describe('JSON from outside', () => {
  test('is a value, or the parser error', () => {
    expect(parseJson('{"a":[1,null]}')).toEqual({ ok: true, value: { a: [1, null] } });
    expect(parseJson('{"a":')).toMatchObject({ ok: false });
  });

  test.each([
    '{"__proto__":{"p":1}}',
    '[{"a":{"__proto__" : 1}}]',
    String.raw`{"__proto\u005f_":1}`,
    String.raw`{"\u005f_proto__":1}`,
  ])('T26: holds no __proto__ key, however it is spelled: %s', (text) => {
    expect(parseJson(text)).toEqual({ ok: false, error: 'the key "__proto__" is not allowed' });
  });

  test('may name __proto__ in a value, and be long', () => {
    expect(parseJson('{"a":"__proto__"}')).toMatchObject({ ok: true });
    expect(parseJson(`["__proto__"${',1'.repeat(300_000)}]`)).toMatchObject({ ok: true });
  });

  test('is written well-formed', () => {
    expect(stringifyJson({ a: '\ud83d x' })).toBe('{"a":"\ufffd x"}');
  });
});
