import { describe, expect, test } from 'vitest';
import { parseStrict } from '../../src/tools/strict-json.ts';

const error = (text: string): string => {
  const parsed = parseStrict(text);
  return parsed.ok ? `accepted ${JSON.stringify(parsed.value)}` : parsed.error;
};

describe('strict JSON', () => {
  test('takes ordinary JSON as JSON.parse does', () => {
    const text = '{"a":[1,-2.5,1e3,true,null,"x: \\"y\\", {z}"],"b":{"a":"\\u00e9"}}';
    expect(parseStrict(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  test.each([
    ['{"command":"git status","command":"touch pwn"}', '"command" stands twice'],
    ['{"a":1,"b":{"c":1,"\\u0063":2}}', '"c" stands twice'],
    ['[{"a":1},{"b":[{"x":1,"x":1}]}]', '"x" stands twice'],
    ['{"a" \n : 1, "a"\t:2}', '"a" stands twice'],
  ])('refuses the repeated key in %s', (text, message) => {
    expect(error(text)).toContain(message);
  });

  test.each(['{"a":1,"b":{"a":1}}', '[{"a":1},{"a":2}]', '{"a":"a","b":"a"}', '{"a":["b","b"],"b":"a"}'])(
    'does not mistake equal names in different places of %s for a repeated key',
    (text) => expect(parseStrict(text).ok).toBe(true),
  );

  test.each(['{"path":"x","__proto__":{"path":"y"}}', '{"a":[{"__proto__":1}]}', '{"\\u005f_proto__":{}}'])(
    'refuses a prototype key in %s',
    (text) => {
      expect(parseStrict(text).ok).toBe(false);
      expect(({} as { path?: string }).path).toBeUndefined();
    },
  );

  test('refuses a NUL character in a text and in a key, and takes an escaped backslash before u0000', () => {
    expect(error('{"path":"src/a\\u0000.ts"}')).toContain('NUL');
    expect(error('{"a\\u0000":1}')).toContain('NUL');
    expect(parseStrict('{"path":"\\\\u0000"}').ok).toBe(true);
  });

  test.each(['2512292042121000001', '-9007199254740993', '1e999', '3.14159265358979323846', '0.10000000000000000001'])(
    'refuses the number %s, which would be rounded',
    (number) => expect(error(`{"id":${number}}`)).toContain('write it as a string'),
  );

  test.each([
    '9007199254740992',
    '-0',
    '0.0',
    '1.0',
    '1.50',
    '0.1',
    '1e21',
    '150e-2',
    '5e-324',
    '123456789012345680000',
    '1E+2',
  ])('takes the number %s, which is kept', (number) =>
    expect(parseStrict(`[${number}]`)).toEqual({ ok: true, value: [Number(number)] }),
  );

  test('names the parse error of text that is no JSON', () => {
    expect(error('{"a": x"}')).toMatch(/Unexpected token/);
    expect(error('{"a":1} {"b":2}')).toMatch(/JSON/);
  });

  test('refuses deep nesting instead of overflowing', () => {
    expect(error(`${'['.repeat(5000)}${']'.repeat(5000)}`)).toContain('deeper than 200');
  });

  test('scans a megabyte of text quickly', () => {
    const began = performance.now();
    expect(parseStrict(JSON.stringify({ file_text: 'a "quoted" line\n'.repeat(60_000) })).ok).toBe(true);
    expect(performance.now() - began).toBeLessThan(1000);
  });
});
