import { describe, expect, test } from 'vitest';
import { compilePrompt, findPromptMistake } from '../../src/core/prompt-template.ts';

const SAMPLES = [
  { limit: 'turn limit', issues: [{ path: '/a' }] },
  { limit: '', issues: [] },
];

describe('a template', () => {
  test.each([
    [
      '{{ limt }}',
      1,
      4,
      '"limt" is no variable of this prompt; expected one of "limit", "issues"; did you mean "limit"?',
    ],
    ['ok\n{% if false %}{{ nothing }}{% endif %}', 2, 18, '"nothing" is no variable'],
    ['x\n  {{ inputs.base }}', 2, 6, '"inputs" is no variable'],
    ['{% for one in issues %}{{ one.pth }}{% endfor %}', 1, 27, 'undefined variable: one.pth'],
    ['{{ limit | upcasee }}', 1, 1, 'undefined filter: upcasee'],
    ['{% if limit %}', 1, 1, 'not closed'],
    ['{% include "file" %}', 1, 1, 'tag "include" not found'],
    ['{{ limit | date: "%Y" }}', 1, 1, 'undefined filter: date'],
    ['{{ issues | sample }}', 1, 1, 'undefined filter: sample'],
    ['{{ limit }}', 1, 1, 'it says nothing with {"limit":"","issues":[]}'],
    ['   ', 1, 1, 'it says nothing with'],
  ])('%j has a mistake at line %i, column %i', async (text, line, column, message) => {
    const mistake = await findPromptMistake(text, SAMPLES);
    expect(mistake?.message).toContain(message);
    expect([mistake?.line, mistake?.column]).toEqual([line, column]);
  });

  test('without a mistake renders the same each time, trimmed', async () => {
    const text = '\n{{ limit | default: "limit" }}: {% for one in issues %}{{ one.path }} {% endfor %}界🧑‍🚀\n';
    expect(await findPromptMistake(text, SAMPLES)).toBeUndefined();
    const compiled = await compilePrompt(text, ['limit', 'issues']);
    const said = compiled.ok ? SAMPLES.map((sample) => compiled.render(sample)) : [];
    expect(said).toEqual(['turn limit: /a 界🧑‍🚀', 'limit: 界🧑‍🚀']);
  });

  test('that is none is the text itself', async () => {
    const compiled = await compilePrompt(' Stop. { } % ', []);
    expect(compiled.ok && compiled.render({})).toBe('Stop. { } %');
  });
});
