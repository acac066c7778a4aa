import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compilePathRule, judgeLocated, locate } from '../../src/policy/paths.ts';
import { createGuards, isGitPath, isProtectedName } from '../../src/policy/protected.ts';
import { createFiles } from '../../src/workspace/files.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';

describe('names of the git folder', () => {
  test.each([
    '.git',
    '.git/x',
    'a/.git/b',
    '.GIT/x',
    '.Git',
    '.g\u200cit',
    '\uff0egit',
    '.git.',
    '.git ',
    '.git..  ',
    'git~1',
    'GIT~2/x',
    '.git::$DATA',
    'a\\.git\\x',
  ])('include %j', (path) => expect(isGitPath(path)).toBe(true));

  test.each([
    '.gitignore',
    '.github/x',
    'git/x',
    'a.git/x',
    '.git2',
    'x/.gitkeep',
    'git~',
    'git~x',
    '..git',
    'foo.git',
  ])('do not include %j', (path) => expect(isGitPath(path)).toBe(false));
});

describe('protected names', () => {
  test.each([
    '.github/workflows',
    '.github/workflows/a/b.yml',
    'x/.github/actions/y',
    '.GITHUB/WORKFLOWS/x',
    'AGENTS.md',
    'a/claude.MD',
    '.mcp.json',
    '.claude/x',
    'a/.codex/b',
    '.gemini',
    '.gitattributes',
    'x/.gitmodules',
  ])('include %j', (path) => expect(isProtectedName(path)).toBe(true));

  test.each([
    '.github',
    '.github/CODEOWNERS',
    '.github/x/workflows/y',
    'workflows/x',
    'AGENTS.md.txt',
    'xAGENTS.md',
    'claude/x',
    '.mcp.json.bak',
  ])('do not include %j', (path) => expect(isProtectedName(path)).toBe(false));
});

describe("the guard of a task's own files", () => {
  test('knows them by absolute path, through a link to the workspace, and before they exist', () => {
    const root = tempTree({ 'tasks/a.json': '' });
    const link = join(tempFolder(), 'link');
    symlinkSync(root, link);
    const { guard } = createGuards(root, [join(link, 'tasks/a.json'), join(link, 'runs/1'), '/elsewhere/task.json']);
    expect(guard('tasks/a.json', 'write').level).toBe('exact');
    expect(guard('tasks/A.JSON', 'write').level).toBe('exact');
    expect(guard('tasks/a.json', 'read').level).toBe('free');
    expect(guard('runs/1/result.json', 'read').level).toBe('never');
    expect(guard('runs/1/result.json', 'write').level).toBe('never');
    expect(guard('runs/10/result.json', 'write').level).toBe('free');
  });

  test('protects what a task file that is a link leads to', () => {
    const root = tempTree({ 'real.json': '' });
    symlinkSync('real.json', join(root, 'task.json'));
    const { guard } = createGuards(root, ['task.json']);
    expect([guard('task.json', 'write').level, guard('real.json', 'write').level]).toEqual(['exact', 'exact']);
  });

  test('keeps searches out of the run folder, also when its name holds wildcards', () => {
    const root = tempFolder();
    expect(createGuards(root, ['runs/[1]*']).closed).toContain('!runs/\\[1\\]\\*/**');
  });
});

describe('a located path', () => {
  test('must be granted as asked for and as it really is', async () => {
    const root = tempTree({ 'src/a.ts': '', 'docs/b.md': '' });
    mkdirSync(join(root, 'src/x'));
    symlinkSync('../../docs/b.md', join(root, 'src/x/link.md'));
    const files = await createFiles(root);
    const { guard } = createGuards(root, []);
    const verdict = async (paths: string[]) => {
      const at = await locate(files, 'src/x/link.md', (path) => files.resolve(path, 'write'));
      return at.ok && judgeLocated(compilePathRule('write_file', 'write', { paths }), at, files, guard);
    };
    expect(await verdict(['src/**', 'docs/**'])).toEqual({ ok: true, pattern: 'src/**' });
    expect(await verdict(['src/**'])).toMatchObject({
      ok: false,
      reason: expect.stringContaining('src/x/link.md leads to docs/b.md'),
    });
    expect(await verdict(['docs/**'])).toMatchObject({ ok: false });
    expect(await verdict(['src/**', 'docs/**', '!docs/b*'])).toMatchObject({ ok: false, pattern: '!docs/b*' });
  });

  test('keeps the name that was asked for', async () => {
    const files = await createFiles(tempTree({ 'src/a.ts': '' }));
    expect(await locate(files, './src//a.ts', (path) => files.resolve(path, 'read'))).toMatchObject({
      path: 'src/a.ts',
    });
    expect(await locate(files, '.', (path) => files.resolve(path, 'list'))).toMatchObject({ path: '.' });
  });
});
