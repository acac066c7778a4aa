import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempFolder, writeTree } from '../helpers/temp.ts';
import { load, refusal } from './loading.ts';

const skill = (name: string, description = 'For changelogs.', body = 'Be brief.\n'): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}`;

function taskOf(skills: unknown, more: Record<string, unknown> = {}): string {
  return JSON.stringify({ prompt: 'x', model: 'm', skills, ...more }, null, 1);
}

/** A folder with these files and a task with these globs. */
function place(files: Record<string, string | Uint8Array>, skills: unknown = ['skills/*'], more = {}): string {
  return writeTree(tempFolder(), { ...files, 'task.json': taskOf(skills, more) });
}

describe('skills of a task', () => {
  test('stand in it whole, with all files of their folders, in the order of the globs', async () => {
    const folder = place(
      {
        'skills/b/SKILL.md': skill('b'),
        'skills/a/SKILL.md': skill('a', '|\n  Two\n  lines.', 'First.\r\n\r\nSecond.'),
        'skills/a/more/list.md': 'one\n',
        'skills/a/logo.bin': new Uint8Array([0xff, 0, 1]),
        'skills/README.md': 'no folder',
        'skills/empty/notes.md': 'no skill',
        'own/SKILL.md': skill('own'),
      },
      ['own', './skills/*'],
    );
    const { task } = await load({ folder });
    expect(task.skills).toEqual([
      { name: 'own', description: 'For changelogs.', body: 'Be brief.', files: [], binary: [] },
      {
        name: 'a',
        description: 'Two lines.',
        body: 'First.\r\n\r\nSecond.',
        files: [{ path: 'more/list.md', text: 'one\n' }],
        binary: ['logo.bin'],
      },
      { name: 'b', description: 'For changelogs.', body: 'Be brief.', files: [], binary: [] },
    ]);
    expect(task.files).toContain(join(folder, 'skills/a/more/list.md'));
  });

  test.each([undefined, []])('are no part of a task that names none: %j', async (skills) => {
    const files = { 'task.json': taskOf(skills) };
    expect((await load({ folder: tempFolder(), files })).task).not.toHaveProperty('skills');
  });

  test.each([
    ['a glob without one', {}, ['skills/*'], 'found "skills/*", which gives no skill: there is no folder skills'],
    ['folders without one', { 'skills/a/x.md': '' }, ['skills/*'], 'it means no folder with a SKILL.md'],
    ['a folder of another name', { 'skills/abc/SKILL.md': skill('a') }, ['skills/abd'], 'did you mean "abc"?'],
    ['a folder without SKILL.md', { 'skills/a/x.md': '' }, ['skills/a'], 'skills/a has no SKILL.md'],
    [
      'two of one name',
      { 'skills/a/SKILL.md': skill('same'), 'skills/b/SKILL.md': skill('same') },
      ['skills/*'],
      'the skills in skills/a and skills/b are both called "same"',
    ],
    [
      'no front matter',
      { 'skills/a/SKILL.md': '# Hello\n' },
      ['skills/*'],
      'skills/a/SKILL.md:1:1: expected front matter',
    ],
    [
      'front matter further down',
      { 'skills/a/SKILL.md': `# Hello\n${skill('a')}` },
      ['skills/*'],
      'expected front matter',
    ],
    ['front matter without an end', { 'skills/a/SKILL.md': '---\nname: a\n' }, ['skills/*'], 'expected front matter'],
    ['no name', { 'skills/a/SKILL.md': '---\ndescription: x\n---\n' }, ['skills/*'], 'name: found'],
    ['a bad name', { 'skills/a/SKILL.md': skill('a b') }, ['skills/*'], 'name: found "a b"'],
    ['no description', { 'skills/a/SKILL.md': '---\nname: a\n---\n' }, ['skills/*'], 'description: found'],
    ['a long description', { 'skills/a/SKILL.md': skill('a', 'x'.repeat(1025)) }, ['skills/*'], 'at most 1024'],
    ['broken YAML', { 'skills/a/SKILL.md': '---\nname: a\nb: [\n---\n' }, ['skills/*'], 'skills/a/SKILL.md:4:'],
    [
      'YAML with a mistake',
      { 'skills/a/SKILL.md': '---\nname: a\nname: b\n---\n' },
      ['skills/*'],
      'skills/a/SKILL.md:3:',
    ],
    [
      'a huge file',
      { 'skills/a/SKILL.md': skill('a'), 'skills/a/big.md': 'x'.repeat(300_000) },
      ['skills/*'],
      'skills/a/big.md: it has more than 262144 bytes',
    ],
    ['a body that is no text', { 'skills/a/SKILL.md': new Uint8Array([0xff]) }, ['skills/*'], 'it is not UTF-8 text'],
  ])('are refused with %s', async (_what, files, skills, message) => {
    const told = await refusal({ folder: place(files, skills) });
    expect(told).toContain(message);
    expect(told).toContain('task.json:');
  });

  test('may not be called like a custom tool', async () => {
    const custom_tools = [{ name: 'skill', description: 'x', input_schema: { type: 'object' }, command: ['true'] }];
    const folder = place({ 'skills/a/SKILL.md': skill('a') }, ['skills/*'], { custom_tools });
    expect(await refusal({ folder })).toContain('the tool that loads skills is called so');
    await load({ folder: tempFolder(), files: { 'task.json': taskOf([], { custom_tools }) } });
  });
});

describe('links', () => {
  function linked(): { folder: string; outside: string } {
    const outside = writeTree(tempFolder(), { 'SKILL.md': skill('out'), 'secret.md': 'outside\n' });
    return { folder: place({ 'skills/a/SKILL.md': skill('a') }), outside };
  }

  test('in a skill are refused', async () => {
    const { folder, outside } = linked();
    mkdirSync(join(folder, 'skills/a/more'));
    symlinkSync(join(outside, 'secret.md'), join(folder, 'skills/a/more/x.md'));
    expect(await refusal({ folder })).toContain('more/x.md is a symbolic link; a skill holds regular files only');
  });

  test('in place of a skill are refused', async () => {
    const { folder, outside } = linked();
    symlinkSync(outside, join(folder, 'skills/b'));
    expect(await refusal({ folder })).toContain('skills/b is a symbolic link, expected a folder');
  });
});

describe('of an untrusted run', () => {
  test('are not taken from the checkout', async () => {
    const workspace = place({ 'skills/a/SKILL.md': skill('a') });
    const folder = tempFolder();
    const inside = `${'../'.repeat(folder.split('/').length)}${workspace.slice(1)}/skills/*`;
    writeTree(folder, { 'task.json': taskOf([inside]) });
    const told = await refusal({ folder, flags: { workspace, untrusted: true } });
    expect(told).toContain('it lies in the checkout, which a stranger may have written');
    expect((await load({ folder, flags: { workspace } })).task.skills).toHaveLength(1);
  });
});
