import { expect, test } from 'vitest';
import { createRegistry } from '../../src/tools/registry.ts';
import { createSkillTool } from '../../src/tools/skill.ts';
import type { SkillConfig } from '../../src/core/config.ts';
import { call, textOf, toolContext } from './tool-context.ts';

const SKILLS: SkillConfig[] = [
  {
    name: 'release',
    description: 'How releases are made.',
    body: 'Tag it.',
    files: [{ path: 'more/list.md', text: 'one\ntwo\n' }],
    binary: ['logo.png'],
  },
  { name: 'style', description: 'How we write.', body: 'Short words.', files: [], binary: [] },
];

async function ask(input: Record<string, string>, redact = (text: string) => text): Promise<[string, string]> {
  const plan = { kind: 'call', effect: 'read' } as const;
  const output = await call(createSkillTool(SKILLS), input, plan, toolContext({ redact }).context);
  return [output.status, textOf(output)];
}

test('the tool offers every skill by its name and what it is for', () => {
  const { definition } = createSkillTool(SKILLS);
  expect(definition.name).toBe('skill');
  expect(definition.description).toContain('- release: How releases are made.\n- style: How we write.');
  expect(createRegistry([createSkillTool(SKILLS)]).parse('skill', '{"name":"style"}')).toEqual({
    ok: true,
    input: { name: 'style' },
  });
});

test('a skill is its text, and the names of its other files', async () => {
  expect(await ask({ name: 'style' })).toEqual(['ok', 'Short words.']);
  expect(await ask({ name: 'release' })).toEqual([
    'ok',
    'Tag it.\n\n[other files of this skill: more/list.md, logo.png (no text)]',
  ]);
});

test('a file of a skill is read by its path, and only what belongs to it', async () => {
  expect(await ask({ name: 'release', file: './more/list.md' })).toEqual(['ok', 'one\ntwo\n']);
  for (const file of ['../style/SKILL.md', '/etc/passwd', 'more/../more/list.md', 'more'])
    expect(await ask({ name: 'release', file })).toEqual(['error', expect.stringContaining('has no file')]);
  expect(await ask({ name: 'release', file: 'more/lst.md' })).toEqual([
    'error',
    expect.stringContaining('did you mean "more/list.md"?'),
  ]);
  expect(await ask({ name: 'release', file: 'logo.png' })).toEqual(['error', expect.stringContaining('is not UTF-8')]);
  expect(await ask({ name: 'style', file: 'a.md' })).toEqual(['error', expect.stringContaining('no other files')]);
});

test('a skill that there is not is an error with the nearest name', async () => {
  expect(await ask({ name: 'realease' })).toEqual(['error', expect.stringContaining('did you mean "release"?')]);
});

test('secrets in a skill are masked', async () => {
  expect(await ask({ name: 'style' }, (text) => text.replaceAll('Short', '***'))).toEqual(['ok', '*** words.']);
});
