import { describe, expect, test } from 'vitest';
import { findJson } from '../../src/output/find-json.ts';

function found(text: string): string {
  const result = findJson(text);
  if (result.kind === 'one') return result.json.text;
  return result.kind === 'several' ? `${result.count} values` : `none: ${result.error}`;
}
const fence = (content: string, info = 'json') => `\`\`\`${info}\n${content}\n\`\`\``;

describe('the JSON of an answer', () => {
  test.each<[string, string, string]>([
    ['the whole text', ' {"a": 1}\n', '{"a": 1}'],
    ['a scalar that is the whole text', '"x"', '"x"'],
    ['a text with a byte order mark', '\ufeff[1]', '[1]'],
    ['B047: one fenced block with prose', `Here it is:\n${fence('{"a": 1}')}\nDone.`, '{"a": 1}'],
    ['a fenced block without a language', fence('[1, 2]', ''), '[1, 2]'],
    ['a longer fence with a fence in a string', '````json\n{"a": "```"}\n````', '{"a": "```"}'],
    ['a fence with tildes', '~~~json\n{}\n~~~', '{}'],
    ['an indented fence', '  ```json\n  {"a":1}\n  ```', '{"a":1}'],
    ['an object in prose', 'The result is {"a": {"b": "}"}} as asked.', '{"a": {"b": "}"}}'],
    ['a list in inline code', 'Result: `[1, 2]`.', '[1, 2]'],
    ['the same value twice, in two spellings', `{"a":1,"b":2}\n${fence('{ "b": 2, "a": 1 }')}`, '{"a":1,"b":2}'],
    ['a block of another language is passed over', `${fence('const a = {"b": 1};', 'ts')}\n${fence('{"a":1}')}`, '{"a":1}'],
    ['brackets of prose are passed over', 'As said [see above] and {so on}: {"a":1}', '{"a":1}'],
    ['a lone bracket of prose is passed over', ':-[ so: {"a":1}', '{"a":1}'],
    ['numbers stay as written', fence('{"id": 2512292042121000001, "x": 1.50}'), '{"id": 2512292042121000001, "x": 1.50}'],
  ])('is found as %s', (_what, text, expected) => {
    expect(found(text)).toBe(expected);
  }); // prettier-ignore

  test.each<[string, string]>([
    ['B047: two fences', `${fence('{"a":1}')}\nor\n${fence('{"a":2}')}`],
    ['two objects in prose', '{"a":1} and {"a":2}'],
    ['a fence and an object', `{"a":1}\n${fence('{"a":2}')}`],
    ['numbers that differ beyond what a program can hold', '{"a":2512292042121000001} {"a":2512292042121000002}'],
  ])('is ambiguous with two different values: %s', (_what, text) => {
    expect(found(text)).toBe('2 values');
  });

  test.each<[string, string]>([
    ['B049: bare words', 'last 1.5 hours'],
    ['B051: a text that stops half way', '{"a":1,"list":[1,2'],
    ['a cut object with a whole one inside', 'Here: {"a":{"b":1},"list":[1,2'],
    ['a cut object in an open fence', '```json\n{"a":{"b":1},"c":'],
    ['a broken object with a whole one inside', '{"a":1,,"x":{"b":1}}'],
    ['an object of another notation', '{a: {"b":1}, \'c\': 2}'],
    ['a broken fence before a whole value', `${fence('{"a":1,}')}\n{"a":1}`],
    ['a link whose text holds an object', '[see {"a":1}](x)'],
    ['a fence that holds no JSON', fence('nothing')],
  ])('is missing, and nothing is mended: %s', (_what, text) => {
    expect(found(text)).toMatch(/^none: .+/);
  });

  test('is looked for in bounded time', () => {
    const started = performance.now();
    for (const text of ['[a '.repeat(200_000), '{ '.repeat(200_000), '```\n'.repeat(100_000), '["'.repeat(200_000)])
      findJson(text);
    expect(performance.now() - started).toBeLessThan(3000);
  });
});
