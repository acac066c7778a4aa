import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MAX_NAMED_BYTES } from '../../src/config/source.ts';
import { openCommit } from '../../src/run/task-ref.ts';
import { gitRepo, type TestRepo } from '../helpers/git-repo.ts';
import { tempFolder } from '../helpers/temp.ts';

const env = process.env;

/** What reading a file of HEAD says: its text, or why not. */
async function said(repo: TestRepo, path: string): Promise<string> {
  const { read } = await openCommit('HEAD', { cwd: repo.root, env });
  const answer = await read(join(repo.root, path));
  return answer.ok ? answer.text : answer.reason;
}

describe('a commit as the source of a task', () => {
  test('gives files as they are in it, whatever the checkout holds', async () => {
    const repo = gitRepo({ 'ci/task.json': 'old', 'gone.md': 'there' });
    const id = repo.git('rev-parse', 'HEAD').trim();
    repo.commit({ 'ci/task.json': 'new' });
    rmSync(join(repo.root, 'gone.md'));
    rmSync(join(repo.root, 'ci'), { recursive: true });
    const { commit, read } = await openCommit('HEAD~1', { cwd: repo.root, env });
    expect(commit).toBe(id);
    expect(await read(join(repo.root, 'ci/task.json'))).toEqual({ ok: true, text: 'old' });
    expect(await read(join(repo.root, 'gone.md'))).toEqual({ ok: true, text: 'there' });
  });

  test('is found from a folder inside the repository, and through a link to it', async () => {
    const repo = gitRepo({ 'a/b/task.json': 'x', 'top.md': 'y' });
    const link = join(tempFolder(), 'link');
    symlinkSync(repo.root, link);
    for (const root of [repo.root, link]) {
      const { read } = await openCommit('main', { cwd: join(root, 'a/b'), env });
      expect(await read(join(root, 'a/b/task.json'))).toEqual({ ok: true, text: 'x' });
      expect(await read(join(root, 'top.md'))).toEqual({ ok: true, text: 'y' });
    }
  });

  test('lets no link of the checkout choose another file of it', async () => {
    const repo = gitRepo({ 'ci/task.json': 'right', 'other/task.json': 'wrong', '*.json': 'star' });
    rmSync(join(repo.root, 'ci'), { recursive: true });
    symlinkSync('other', join(repo.root, 'ci'));
    expect(await said(repo, 'ci/task.json')).toBe('right');
    expect(await said(repo, '*.json')).toBe('star');
  });

  test('refuses links, submodules and folders in it, and says what is missing or lies outside', async () => {
    const repo = gitRepo({ 'real.md': 'x', 'folder/a.md': 'a' });
    symlinkSync('/etc/passwd', join(repo.root, 'link.md'));
    symlinkSync('folder', join(repo.root, 'linked'));
    repo.git('add', '-A');
    repo.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`);
    repo.git('commit', '-q', '-m', 'odd entries');
    writeFileSync(join(repo.root, 'new.md'), 'not committed');
    const commit = repo.git('rev-parse', 'HEAD').trim();
    expect(await said(repo, 'link.md')).toBe(`it is a symbolic link in ${commit}, expected a regular file`);
    expect(await said(repo, 'sub')).toBe(`it is a submodule in ${commit}, expected a regular file`);
    expect(await said(repo, 'folder')).toBe(`it is a folder in ${commit}, expected a regular file`);
    expect(await said(repo, 'linked/a.md')).toBe(`no such file in ${commit}`);
    expect(await said(repo, 'new.md')).toBe(`no such file in ${commit}`);
    expect(await said(repo, '../other.md')).toContain('outside the repository');
    expect(await said(repo, '.')).toContain('outside the repository');
  });

  test('refuses bytes that are no text, and files that are too large', async () => {
    const large = Buffer.alloc(MAX_NAMED_BYTES + 1, 0x20);
    const repo = gitRepo({ 'binary.json': Buffer.from([0xff, 0xfe, 0x00]), 'large.json': large });
    expect(await said(repo, 'binary.json')).toBe('it is not valid UTF-8');
    expect(await said(repo, 'large.json')).toBe(`it is larger than ${MAX_NAMED_BYTES} bytes`);
  });

  test('is what its id says, whatever replacement the repository holds', async () => {
    const repo = gitRepo({ 'task.json': 'right' });
    const blob = repo.git('rev-parse', 'HEAD:task.json').trim();
    writeFileSync(join(repo.root, 'other'), 'wrong');
    repo.git('replace', blob, repo.git('hash-object', '-w', 'other').trim());
    expect(repo.git('cat-file', 'blob', blob)).toBe('wrong');
    expect(await said(repo, 'task.json')).toBe('right');
  });

  test.each([
    ['no-such-branch', 'git fetch origin no-such-branch'],
    ['--upload-pack=x', 'is no name of a commit'],
  ])("that does not exist is the caller's mistake: %s", async (ref, part) => {
    await expect(openCommit(ref, { cwd: gitRepo({ a: '1' }).root, env })).rejects.toThrow(part);
  });

  test('that a shallow clone lacks comes with the fetch-depth to set', async () => {
    const origin = gitRepo({ a: '1' });
    origin.commit({ a: '2' });
    const folder = join(tempFolder(), 'clone');
    origin.git('clone', '-q', '--depth=1', `file://${origin.root}`, folder);
    await expect(openCommit('HEAD~1', { cwd: folder, env })).rejects.toThrow('fetch-depth: 0');
  });

  test('needs a repository', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'ci'));
    await expect(openCommit('HEAD', { cwd: folder, env })).rejects.toThrow(
      '--task-ref: the workspace is no git repository',
    );
  });
});
