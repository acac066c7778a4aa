import { describe, expect, test } from 'vitest';
import { beginsWithValue, isTemplate, renderTemplate } from '../../src/core/template.ts';

const scope = { inputs: { a: 'A', b: '{{ inputs.a }}', none: null } };
const text = async (template: string): Promise<string> => {
  const rendered = await renderTemplate(template, scope);
  return rendered.ok ? rendered.text : `${rendered.error.line}:${rendered.error.column} ${rendered.error.message}`;
};

describe('a template', () => {
  test.each([
    ['plain text with $ and { and }', 'plain text with $ and { and }'],
    ['{{ inputs.a }} {{inputs.b}}', 'A {{ inputs.a }}'],
    ['{% if inputs.none %}yes{% else %}no{% endif %}[{{ inputs.none }}]', 'no[]'],
    ['{{ inputs.a | downcase | append: "!" }}', 'a!'],
    ['{% raw %}{{ secrets.X }}{% endraw %}', '{{ secrets.X }}'],
    ['<b>{{ inputs.a }}</b> & "x"', '<b>A</b> & "x"'],
    ['{% assign x = inputs.b %}{{ x }}', '{{ inputs.a }}'],
  ])('renders in one pass: %s', async (template, expected) => {
    expect(await text(template)).toBe(expected);
  });

  test.each([
    ['line\n {{ inputs.c }}', '2:5 "inputs.c" is unknown; expected one of "a", "b", "none"'],
    ['{{ env.X }}', '1:4 "env.X" does not exist'],
    ['${{ github.ref }}', '1:5 "github.ref" does not exist'],
    ['{% if false %}{{ inputs.c }}{% endif %}', 'is unknown'],
    ['{{ inputs.a | nope }}', '1:1 undefined filter: nope'],
    ['{{ inputs.constructor }}', '"inputs.constructor" is unknown'],
    ['{{ inputs.first }}', '"inputs.first" is unknown'],
    ['{{ inputs[inputs.a] }}', 'undefined variable'],
    ['x {{ inputs.a', '1:3'],
    ['{% include "x" %}', 'tag "include" not found'],
    ['{% render "x" %}', 'tag "render" not found'],
    ['{% layout "x" %}', 'tag "layout" not found'],
    ['{% for i in (1..9000000000) %}x{% endfor %}', 'limit'],
  ])('is refused with line and column: %s', async (template, expected) => {
    expect(await text(template)).toContain(expected);
  });

  test('is told from plain text, which never loads the engine', () => {
    expect(['{{ x }}', '{% x %}', '{ x }', '%}'].map(isTemplate)).toEqual([true, true, false, false]);
  });

  test('begins with a value when nothing but dashes stands before it', () => {
    const argv = [
      '{{ inputs.a }}',
      '--{{ inputs.a }}',
      '{% if true %}-x{% endif %}',
      '--a={{ inputs.a }}',
      'a{{ inputs.a }}',
    ];
    expect(argv.map(beginsWithValue)).toEqual([true, true, true, false, false]);
  });
});
