import { describe, expect, test } from 'vitest';
import { bareParameter, findParameterMistake, plainText, renderParameters } from '../../src/core/parameter-template.ts';
import type { JsonObject } from '../../src/core/json.ts';

const NAMES = ['a', 'b', 'n', 'flag', 'list', 'object', 'max-lines', 'constructor', 'size', 'first'];

async function render(template: string, values: JsonObject = {}) {
  return renderParameters(template, NAMES, values);
}

describe('a template over parameters', () => {
  test.each<[string, JsonObject, string]>([
    ['plain {a} $(a)', { a: 'x' }, 'plain {a} $(a)'],
    ['{{ a }}', { a: '{{ b }}{% if x %}' }, '{{ b }}{% if x %}'],
    ['[{{ a }}|{{ b }}]', { a: 'x' }, '[x|]'],
    ['{{ n }}', { n: 1.5 }, '1.5'],
    ['{{ flag }}', { flag: false }, 'false'],
    ['{{ list | join: "," }}', { list: ['a', 2] }, 'a,2'],
    ['{{ object | json }}', { object: { k: ['v'] } }, '{"k":["v"]}'],
    ['{{ object.k }}{{ object.none.deeper }}', { object: { k: 'v' } }, 'v'],
    ['{% for item in list %}{{ item }};{% endfor %}', { list: ['a', 'b'] }, 'a;b;'],
    ['{% if flag %}--fix{% endif %}', { flag: true }, '--fix'],
    ['{{ a | default: "none" }}', {}, 'none'],
    ['{{ max-lines }}', { 'max-lines': 3 }, '3'],
    ['[{{ constructor }}{{ size }}{{ first }}]', {}, '[]'],
    ['{{ constructor }}{{ size }}{{ first }}', { constructor: 'c', size: 's', first: 'f' }, 'csf'],
    ['{{ a }}', { a: 'grüße\n"\'$(id)`id` 😀 \u202E' }, 'grüße\n"\'$(id)`id` 😀 \u202E'],
    ['{{ a }}', { a: 'half \uD83D' }, 'half \uFFFD'],
  ])('renders %s in one pass', async (template, values, text) => {
    expect(await render(template, values)).toMatchObject({ ok: true, text });
  });

  test.each<[string, JsonObject, number | null, boolean]>([
    ['plain', {}, null, false],
    ['--a={{ a }}', { a: 'x' }, 4, false],
    ['--a={{ a }}', {}, null, true],
    ['{% if flag %}--fix{% endif %}', { flag: true }, null, false],
    ['{{ a }}{{ b }}', { b: '-x' }, 0, false],
    ['{{ a }}', { a: null }, null, true],
    ['{{ a }}', { a: '' }, 0, false],
    ['{{ a | upcase }}', {}, 0, true],
  ])('tells in %s the value from the text around it', async (template, values, value_at, absent) => {
    expect(await render(template, values)).toMatchObject({ ok: true, value_at, absent });
  });

  test.each<[string, JsonObject, string]>([
    ['{{ list }}', { list: ['a'] }, 'a list is no text'],
    ['{{ object }}', { object: {} }, 'an object is no text'],
    ['{{ a }}', { a: 'x\0y' }, 'NUL'],
    ['{{ a | url_decode }}', { a: '%00' }, 'NUL'],
    ['{% for i in (1..n) %}x{% endfor %}', { n: 9e9 }, 'limit'],
  ])('refuses what no text stands for: %s', async (template, values, reason) => {
    expect(await render(template, values)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
  });

  test('takes a text of 100 KB as it is', async () => {
    const a = '{{ a }}$(x)\n'.repeat(9000);
    expect(await render('{{ a }}', { a })).toMatchObject({ ok: true, text: a });
  });
});

describe('the mistakes of such a template', () => {
  test.each([
    ['x\n{{ aa }}', '"aa" is no parameter of the tool; expected one of "a"'],
    ['{{ inputs.base }}', '"inputs" is no parameter'],
    ['{{ env.HOME }}', '"env" is no parameter'],
    ['{{ __proto__ }}', 'is no parameter'],
    ['{% if false %}{{ zz }}{% endif %}', '"zz" is no parameter'],
    ['{{ a | nope }}', 'undefined filter'],
    ['{{ a | raw }}', 'undefined filter: raw'],
    ['{% echo a %}', 'tag "echo" not found'],
    ['{% capture x %}{{ a }}{% endcapture %}', 'tag "capture" not found'],
    ['{% cycle a, b %}', 'tag "cycle" not found'],
    ['{% liquid echo a %}', 'tag "liquid" not found'],
    ['{% include a %}', 'tag "include" not found'],
    ['{{ a', 'not closed'],
  ])('are found before any call: %s', async (template, message) => {
    expect((await findParameterMistake(template, NAMES))?.message).toContain(message);
  });

  test('have a place', async () => {
    expect(await findParameterMistake('x\n {{ zz }}', NAMES)).toMatchObject({ line: 2, column: 5 });
    expect(await findParameterMistake('{{ a }} {{ max-lines }}', NAMES)).toBeUndefined();
    expect((await findParameterMistake('{{ a }}', []))?.message).toContain('the tool has none');
  });
});

test('a parameter alone is told from everything else', () => {
  const templates = ['{{ a }}', '{{a}}', '{{- a-b -}}', '{{ a | upcase }}', '{{ a.b }}', 'x{{ a }}', '{{ a }}{{ b }}'];
  expect(templates.map(bareParameter)).toEqual(['a', 'a', 'a-b', undefined, undefined, undefined, undefined]);
});

test('numbers and truth values become the text JSON has for them', () => {
  expect([1, -0, 1e21, 0.1, true].map(plainText)).toEqual(['1', '0', '1e+21', '0.1', 'true']);
});
