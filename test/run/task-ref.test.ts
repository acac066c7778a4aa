import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openCommit } from '../../src/run/task-ref.ts';
import { gitRepo } from '../helpers/git-repo.ts';
import { tempFolder } from '../helpers/temp.ts';

const env = process.env;

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

  test('is found from a folder inside the repository too', async () => {
    const repo = gitRepo({ 'a/b/task.json': 'x', 'top.md': 'y' });
    const { read } = await openCommit('main', { cwd: join(repo.root, 'a/b'), env });
    expect(await read(join(repo.root, 'a/b/task.json'))).toEqual({ ok: true, text: 'x' });
    expect(await read(join(repo.root, 'top.md'))).toEqual({ ok: true, text: 'y' });
  });

  test('never follows a link, and says what is missing or lies outside', async () => {
    const repo = gitRepo({ 'real.md': 'x' });
    symlinkSync('/etc/passwd', join(repo.root, 'link.md'));
    writeFileSync(join(repo.root, 'new.md'), 'not committed');
    repo.git('add', 'link.md');
    repo.git('commit', '-q', '-m', 'link');
    const { commit, read } = await openCommit('HEAD', { cwd: repo.root, env });
    const reason = async (path: string): Promise<string> => {
      const answer = await read(path);
      return answer.ok ? answer.text : answer.reason;
    };
    expect(await reason(join(repo.root, 'link.md'))).toBe(`it is no regular file in ${commit}`);
    expect(await reason(join(repo.root, 'new.md'))).toBe(`no such file in ${commit}`);
    expect(await reason('/etc/passwd')).toContain('outside the repository');
    expect(await reason(repo.root)).toContain('outside the repository');
  });

  test.each([
    ['no-such-branch', 'git fetch origin no-such-branch'],
    ['--upload-pack=x', 'is no name of a commit'],
  ])("that does not exist is the caller's mistake: %s", async (ref, part) => {
    await expect(openCommit(ref, { cwd: gitRepo({ a: '1' }).root, env })).rejects.toThrow(part);
  });

  test('needs a repository', async () => {
    await expect(openCommit('HEAD', { cwd: tempFolder(), env })).rejects.toThrow(
      '--task-ref: the workspace is no git repository',
    );
  });
});
