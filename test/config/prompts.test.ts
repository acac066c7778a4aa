import { describe, expect, test } from 'vitest';
import { tempFolder } from '../helpers/temp.ts';
import { load, refusal } from './loading.ts';

function files(prompts: object, more: Record<string, string> = {}): Record<string, string> {
  return { 'task.json': JSON.stringify({ prompt: 'x', model: 'm', prompts }, null, 2), ...more };
}

describe('replaced prompts', () => {
  test('come from the task or from the files it names, and belong to the files no tool writes', async () => {
    const given = { limit_reminder: { file: 'p/limit.md' }, empty_reply: 'Go on.' };
    const { task } = await load({ folder: tempFolder(), files: files(given, { 'p/limit.md': 'Stop: {{ limit }}' }) });
    expect(task.prompt_templates).toEqual({ limit_reminder: 'Stop: {{ limit }}', empty_reply: 'Go on.' });
    expect(task.files.some((file) => file.endsWith('p/limit.md'))).toBe(true);
  });

  test('are absent when none is replaced', async () => {
    expect((await load({ folder: tempFolder(), files: files({}) })).task).not.toHaveProperty('prompt_templates');
  });

  test.each([
    [{ limit_remindr: 'x' }, /^task\.json:5:5 .*unknown prompt "limit_remindr".*did you mean "limit_reminder"/],
    [
      { limit_reminder: '{{ limitt }}' },
      /^task\.json:5:23 .*"limitt" is no variable.*did you mean "limit"\? \(line 1, column 4 of the text\)/,
    ],
    [{ limit_reminder: ' ' }, /^task\.json:5:23 .*says nothing/],
    [{ limit_reminder: { file: 'missing.md' } }, /^task\.json:.*cannot be read: no such file/],
    [{ limit_reminder: { file: 'p.md' } }, /^p\.md:2:4: .*"nope" is no variable.*\(named by task\.json:6:/],
  ])('with a mistake are refused before anything is spent: %j', async (given, message) => {
    const shown = await refusal({ folder: tempFolder(), files: files(given, { 'p.md': 'a\n{{ nope }}' }) });
    expect(shown).toMatch(message);
  });
});
