import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gitOn, gitRepo } from '../helpers/git-repo.ts';
import { tempFolder } from '../helpers/temp.ts';

const BINARY = Buffer.from([0, 1, 2, 3, 0, 255, 254]);

/** A shallow clone of depth 1 of a repository with a branch. */
function shallowClone() {
  const origin = gitRepo({ 'a.txt': 'one\n' });
  origin.git('checkout', '-q', '-b', 'feature');
  origin.commit({ 'b.txt': 'feature\n' });
  origin.git('checkout', '-q', 'main');
  origin.commit({ 'c.txt': 'main\n' });
  const root = tempFolder();
  const clone = (...args: string[]): void => void execFileSync('git', args, { cwd: root, stdio: 'pipe' });
  clone('clone', '-q', '--depth', '1', '--branch', 'feature', `file://${origin.root}`, '.');
  return { root, clone };
}

describe('a diff', () => {
  test('of a branch is taken from the merge base', async () => {
    const repo = gitRepo({ 'a.txt': 'one\n' });
    repo.git('checkout', '-q', '-b', 'feature');
    repo.commit({ 'b.txt': 'feature\n' });
    repo.git('checkout', '-q', 'main');
    repo.commit({ 'c.txt': 'main only\n' });
    const diff = await gitOn(repo.root).diff({ base: 'main', head: 'feature', paths: [] });
    expect(diff).toMatchObject({ ok: true, files: ['b.txt'], notes: [] });
    expect(diff.ok && diff.text).toContain('+feature');
    expect(diff.ok && diff.text).not.toContain('main only');
  });

  test('of the working tree compares with HEAD and counts what is untracked', async () => {
    const repo = gitRepo({ 'a.txt': 'one\n' });
    writeFileSync(join(repo.root, 'a.txt'), 'two\n');
    writeFileSync(join(repo.root, 'new.txt'), 'new\n');
    const diff = await gitOn(repo.root).diff({ paths: [] });
    expect(diff).toMatchObject({ ok: true, files: ['a.txt'], notes: ['1 untracked file is not part of this diff'] });
    const since = await gitOn(repo.root).diff({ base: 'main', paths: [] });
    expect(since).toMatchObject({ ok: true, files: ['a.txt'] });
  });

  test('of a repository without a commit compares with nothing', async () => {
    const repo = gitRepo();
    writeFileSync(join(repo.root, 'a.txt'), 'one\n');
    repo.git('add', 'a.txt');
    expect(await gitOn(repo.root).diff({ paths: [] })).toMatchObject({ ok: true, files: ['a.txt'] });
    const missing = await gitOn(repo.root).diff({ base: 'HEAD', paths: [] });
    expect(missing).toMatchObject({ ok: false, reason: expect.stringContaining('no commit yet') });
  });

  test('keeps to its paths, exclusions and odd names included', async () => {
    const repo = gitRepo({ x: '' });
    repo.commit({ 'src/a.ts': '1', 'src/gen/b.ts': '2', ':(top)c.ts': '3', 'd.md': '4' });
    const git = gitOn(repo.root);
    const files = async (paths: string[]) => {
      const diff = await git.diff({ base: 'HEAD~1', head: 'HEAD', paths });
      return diff.ok ? diff.files : diff.reason;
    };
    expect(await files(['src/**', '!src/gen/**'])).toEqual(['src/a.ts']);
    expect(await files(['!src/**', '!d.md'])).toEqual([':(top)c.ts']);
    expect(await files(['*.ts'])).toEqual([':(top)c.ts']);
    expect(await files(['../x'])).toContain('stay inside');
    expect(await files(['/etc'])).toContain('stay inside');
  });

  test('of a workspace below the top names paths from the workspace', async () => {
    const repo = gitRepo({ 'pkg/a.txt': 'one\n', 'other.txt': '' });
    repo.commit({ 'pkg/a.txt': 'two\n', 'other.txt': 'x' });
    const diff = await gitOn(join(repo.root, 'pkg')).diff({ base: 'HEAD~1', head: 'HEAD', paths: [] });
    expect(diff).toMatchObject({ ok: true, files: ['a.txt'] });
  });

  test('B127: names each kind of change', async () => {
    const text = 'line\n'.repeat(20);
    const repo = gitRepo({
      'edit.txt': '1',
      'gone.txt': '2',
      'old.txt': text,
      'old.bin': BINARY,
      'mode.sh': '',
      'type.txt': '3',
    });
    const sub = gitRepo({ x: '' });
    repo.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', sub.root, 'sub');
    renameSync(join(repo.root, 'old.txt'), join(repo.root, 'new.txt'));
    renameSync(join(repo.root, 'old.bin'), join(repo.root, 'new.bin'));
    rmSync(join(repo.root, 'gone.txt'));
    rmSync(join(repo.root, 'type.txt'));
    symlinkSync('edit.txt', join(repo.root, 'type.txt'));
    chmodSync(join(repo.root, 'mode.sh'), 0o755);
    repo.commit({ 'edit.txt': 'other', 'new.data': BINARY });
    const diff = await gitOn(repo.root).diff({ base: 'HEAD~1', head: 'HEAD', paths: [] });
    const files = diff.ok ? diff.files : [];
    const names = [
      'edit.txt',
      'gone.txt',
      'mode.sh',
      'new.data',
      'old.bin -> new.bin',
      'old.txt -> new.txt',
      'type.txt',
    ];
    expect(files.toSorted()).toEqual(['.gitmodules', ...names, 'sub'].toSorted());
    expect(diff.ok && diff.text).toContain('rename from old.bin');
    expect(diff.ok && diff.text).toContain('new mode 100755');
  });

  test('B125: has all of 350 files', async () => {
    const repo = gitRepo({ x: '' });
    repo.commit(Object.fromEntries(Array.from({ length: 350 }, (_, index) => [`f/${index}.txt`, `${index}\n`])));
    const diff = await gitOn(repo.root).diff({ base: 'HEAD~1', head: 'HEAD', paths: [] });
    expect(diff.ok && diff.files.length).toBe(350);
    expect(diff.ok && diff.text.match(/^diff --git /gm)).toHaveLength(350);
  });

  test('B129: shows names as they are on disk, and others escaped and marked', async () => {
    const repo = gitRepo({ x: '' });
    mkdirSync(join(repo.root, 'docs/日本語'), { recursive: true });
    writeFileSync(Buffer.concat([Buffer.from(`${repo.root}/caf`), Buffer.from([0xe9])]), 'x\n');
    repo.commit({ 'docs/日本語/sample.md': 'y\n', 'with "quote" and\ttab': 'z\n' });
    const diff = await gitOn(repo.root).diff({ base: 'HEAD~1', head: 'HEAD', paths: [] });
    expect(diff.ok && diff.files).toEqual(['caf\\xe9', 'docs/日本語/sample.md', 'with "quote" and\ttab']);
    expect(diff.ok && diff.notes).toEqual([expect.stringContaining('1 file name is not UTF-8')]);
    expect(diff.ok && diff.text).toContain('+++ b/docs/日本語/sample.md');
  });

  test('of a text that is not UTF-8 shows its bytes and says so', async () => {
    const repo = gitRepo({ 'a.txt': 'x\n' });
    repo.commit({ 'a.txt': Buffer.from([0x63, 0xe9, 0x0a]) });
    const diff = await gitOn(repo.root).diff({ base: 'HEAD~1', head: 'HEAD', paths: [] });
    expect(diff.ok && diff.text).toContain('+c\\xe9\n');
    expect(diff.ok && diff.notes).toEqual([expect.stringContaining('\\xNN')]);
  });

  test('git-config-02, T13: starts no program that the repository names', async () => {
    const repo = gitRepo({ 'a.md': 'x\n', '.gitattributes': '*.md diff=x filter=f\n' });
    const sub = gitRepo({ x: '' });
    repo.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', sub.root, 'sub');
    repo.commit({});
    for (const name of [
      'diff.external',
      'diff.x.command',
      'diff.x.textconv',
      'filter.f.clean',
      'filter.f.process',
      'core.fsmonitor',
    ]) {
      repo.git('config', name, `touch ${repo.root}/pwn;false`);
    }
    repo.git('config', 'filter.f.required', 'true');
    execFileSync('git', ['config', 'core.fsmonitor', `touch ${repo.root}/pwn; false`], { cwd: join(repo.root, 'sub') });
    writeFileSync(join(repo.root, 'a.md'), 'changed\n');
    const git = gitOn(repo.root);
    expect(await git.diff({ paths: [] })).toMatchObject({ ok: true, files: ['a.md'] });
    expect(await git.state()).toMatchObject({ dirty: true });
    const tree = (await git.snapshot()) ?? '';
    writeFileSync(join(repo.root, 'a.md'), 'again\n');
    expect(await git.patchSince(tree)).toContain('-changed\n+again');
    expect((await git.log({ paths: [] })).ok).toBe(true);
    expect(existsSync(join(repo.root, 'pwn'))).toBe(false);
  });

  test('B131: ends at the timeout with its helpers', async () => {
    const repo = gitRepo({ x: '' });
    const bin = tempFolder();
    writeFileSync(join(bin, 'git'), '#!/bin/sh\nsetsid sleep 31 &\nsleep 31\n');
    chmodSync(join(bin, 'git'), 0o755);
    const env = { PATH: `${bin}:/usr/bin:/bin` };
    const diff = await gitOn(repo.root, { env, timeout_ms: 200 }).diff({ paths: [] });
    expect(diff).toMatchObject({ ok: false, reason: 'git took longer than 200 ms' });
  });
});

describe('a range that is not there', () => {
  test('B123: a shallow clone without a merge base gives the plain difference, and says what mends it', async () => {
    const { root, clone } = shallowClone();
    clone('fetch', '-q', '--depth', '1', 'origin', 'main:refs/remotes/origin/main');
    const diff = await gitOn(root).diff({ base: 'origin/main', head: 'HEAD', paths: [] });
    expect(diff).toMatchObject({ ok: true, files: ['b.txt', 'c.txt'] });
    expect(diff.ok && diff.notes).toEqual([expect.stringMatching(/no common ancestor .*shallow.*fetch-depth: 0/)]);
  });

  test('in a shallow clone names the ref and the way to get it', async () => {
    const { root } = shallowClone();
    const reason =
      '"origin/main" is not in this clone, which is shallow; set fetch-depth: 0 for actions/checkout, or run: git fetch --unshallow';
    expect(await gitOn(root).diff({ base: 'origin/main', head: 'HEAD', paths: [] })).toEqual({ ok: false, reason });
    expect(await gitOn(root).log({ base: 'origin/main', paths: [] })).toEqual({ ok: false, reason });
    const log = await gitOn(root).log({ paths: [] });
    expect(log.ok && log.text).toContain('the clone is shallow');
  });

  test('in a full clone names the branch to fetch', async () => {
    const repo = gitRepo({ x: '' });
    const diff = await gitOn(repo.root).diff({ base: 'origin/release/1.0', paths: [] });
    expect(diff).toEqual({
      ok: false,
      reason: '"origin/release/1.0" is not in this clone; run: git fetch origin release/1.0',
    });
    expect(await gitOn(repo.root).diff({ head: 'HEAD', paths: [] })).toMatchObject({ ok: false });
  });

  test('unrelated histories are compared plainly, with a note', async () => {
    const repo = gitRepo({ 'a.txt': 'a' });
    repo.git('checkout', '-q', '--orphan', 'other');
    repo.commit({ 'b.txt': 'b' });
    const diff = await gitOn(repo.root).diff({ base: 'main', head: 'other', paths: [] });
    expect(diff).toMatchObject({ ok: true, files: ['b.txt'], notes: [expect.stringContaining('in the history')] });
  });

  test('outside a repository is a reason', async () => {
    const reason = expect.stringContaining('no git repository');
    expect(await gitOn(tempFolder()).diff({ paths: [] })).toEqual({ ok: false, reason });
    expect(await gitOn(tempFolder(), { env: { PATH: '/nowhere' } }).log({ paths: [] })).toEqual({
      ok: false,
      reason: 'git is not installed, or not on PATH',
    });
  });
});
