import { describe, expect, test } from 'vitest';
import { tempFolder } from '../helpers/temp.ts';
import { load, refusal } from './loading.ts';

const task = (github: object): string => JSON.stringify({ prompt: 'x', model: 'claude-sonnet-5-5', github });
const github = async (given: object, files: Record<string, string> = {}) =>
  (await load({ folder: tempFolder(), files: { 'task.json': task(given), ...files } })).task.github;

describe('what a task publishes', () => {
  test.each([
    [{}, { summary: true, annotations: true }],
    [
      { summary: false, comment: false },
      { summary: false, annotations: true, comment: false },
    ],
    [{ comment: true }, { summary: true, annotations: true, comment: { template: null, sticky: true } }],
    [
      { comment: { template: 'a {{ output.b }}', sticky: false } },
      { summary: true, annotations: true, comment: { template: 'a {{ output.b }}', sticky: false } },
    ],
  ])('of %j is %j', async (given, expected) => {
    expect(await github(given)).toEqual(expected);
  });

  test('is a template from a file, with its values still to come', async () => {
    const template = '{% for f in findings %}{{ f.place | code }}{% endfor %}';
    const read = await github({ comment: { template: { file: 'c.md' } } }, { 'c.md': template });
    expect(read).toMatchObject({ comment: { template } });
  });

  test.each([
    ['{{ run.stauts }}', '"run.stauts" does not exist in this template; expected one of task, status'],
    ['{{ env.HOME }}', '"env" does not exist in this template'],
    ['{% include "x" %}', 'tag "include" not found'],
    ['{{ output | raw }}', 'undefined filter: raw'],
  ])('is refused with its place when the template says %s', async (template, message) => {
    const inline = { 'task.json': task({ comment: { template } }) };
    expect(await refusal({ folder: tempFolder(), files: inline })).toMatch(
      /^task\.json:1:\d+ \(\/github\/comment\/template\)/,
    );
    const files = { 'task.json': task({ comment: { template: { file: 'c.md' } } }), 'c.md': `ok\n${template}` };
    const said = await refusal({ folder: tempFolder(), files });
    expect(said).toContain(message);
    expect(said).toMatch(/^c\.md:2:\d+: .* \(named by task\.json:1:\d+ \(\/github\/comment\/template\/file\)\)$/);
  });

  test('is refused when the file of the template is missing', async () => {
    const files = { 'task.json': task({ comment: { template: { file: 'c.md' } } }) };
    expect(await refusal({ folder: tempFolder(), files })).toContain('found "c.md", which cannot be read');
  });
});
