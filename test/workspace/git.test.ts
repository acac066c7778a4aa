import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { refIssue } from '../../src/workspace/git-refs.ts';
import { gitOn, gitRepo, type TestRepo } from '../helpers/git-repo.ts';
import { tempFolder, writeTree } from '../helpers/temp.ts';

describe('the state of a repository', () => {
  test('is head, branch and whether anything is uncommitted', async () => {
    const repo = gitRepo();
    expect(await gitOn(repo.root).state()).toEqual({ head: null, branch: 'main', dirty: false });
    const head = repo.commit({ 'a.txt': 'a' });
    expect(await gitOn(repo.root).state()).toEqual({ head, branch: 'main', dirty: false });
    writeTree(repo.root, { 'new.txt': '' });
    repo.git('checkout', '-q', '--detach');
    expect(await gitOn(repo.root).state()).toEqual({ head, branch: null, dirty: true });
  });

  test('is null without a repository, and inside a buried bare one', async () => {
    const repo = gitRepo({ x: '' });
    repo.git('clone', '-q', '--bare', '.', 'buried.git');
    expect(await gitOn(tempFolder()).state()).toBeNull();
    expect(await gitOn(join(repo.root, 'buried.git')).state()).toBeNull();
  });

  test.runIf(process.getuid?.() === 0)(
    'B119: the workspace may belong to another user, its parents may not',
    async () => {
      const repo = gitRepo({ 'pkg/a.txt': 'a' });
      execFileSync('chown', ['-R', '12345', repo.root]);
      chownSync(join(repo.root, 'pkg'), 0, 0);
      expect(await gitOn(repo.root).state()).toMatchObject({ branch: 'main', dirty: false });
      const diff = await gitOn(join(repo.root, 'pkg')).diff({ paths: [] });
      expect(diff).toMatchObject({ ok: false, reason: expect.stringContaining(`chown -R "$(id -u)" ${repo.root}`) });
    },
  );
});

describe('the log', () => {
  test('has the commits of a range, newest first, with whole messages', async () => {
    const repo = gitRepo({ 'a.txt': 'a' });
    repo.commit({ 'b.txt': 'b' }, 'Second: größer\n\nA body\n\nwith two parts');
    repo.commit({ 'c.txt': 'c' }, 'Third');
    const log = await gitOn(repo.root).log({ base: 'HEAD~2', paths: [] });
    expect(log.ok && log.text).toMatch(/^commit [0-9a-f]{40}\nAuthor: Ada <ada@example\.com>\nDate: .*\n\n {4}Third\n/);
    expect(log.ok && log.text).toContain('    Second: größer\n\n    A body\n\n    with two parts');
    expect(log.ok && log.text).not.toContain('a commit');
    const narrow = await gitOn(repo.root).log({ paths: ['b*'] });
    expect(narrow.ok && narrow.text.match(/^commit /gm)).toHaveLength(1);
    expect(await gitOn(repo.root).log({ base: 'HEAD', paths: [] })).toEqual({ ok: true, text: '' });
  });
});

describe('names of commits', () => {
  test.each(['main', 'origin/main', 'v1.2.0', 'HEAD~3', 'HEAD^', 'a^2~1', 'f'.repeat(40), 'feature/日本語', 'x-y_z.1'])(
    'takes %s',
    (ref) => {
      expect(refIssue(ref)).toBeUndefined();
    },
  );

  test.each([
    '--output=x',
    '-x',
    '',
    'a..b',
    'a b',
    'a:b',
    'a\nb',
    'a\0',
    '@{u}',
    '@',
    'a//b',
    '/a',
    'a/',
    '.a',
    'a/.b',
    'a.lock',
    'a.',
    'a?',
    'a*',
    'a[',
    'a\\b',
    '^a',
    'ext::sh -c x',
    '~1',
  ])('B133: refuses %j', (ref) => {
    expect(refIssue(ref)).toContain('is no name of a commit');
  });

  test('a hostile one never reaches git', async () => {
    const repo = gitRepo({ x: '' });
    const diff = await gitOn(repo.root).diff({ base: '--output=pwn', head: 'HEAD', paths: [] });
    expect(diff).toMatchObject({ ok: false });
    expect(existsSync(join(repo.root, 'pwn'))).toBe(false);
  });
});

describe('the patch of a run', () => {
  /** Applies a patch to the tree it started from, and returns what git then says differs from the present tree. */
  function roundTrip(repo: TestRepo, patch: string): string {
    const copy = tempFolder();
    execFileSync('git', ['init', '-q'], { cwd: copy });
    writeTree(copy, { '.git/info/attributes': '* -text\n' });
    execFileSync('cp', ['-a', `${repo.root}/start/.`, copy]);
    writeFileSync(join(copy, '.git/p'), patch);
    execFileSync('git', ['apply', '--whitespace=nowarn', '.git/p'], { cwd: copy, stdio: 'pipe' });
    return execFileSync('sh', ['-c', `diff -r --no-dereference -x .git -x start '${copy}' '${repo.root}' || true`], {
      encoding: 'utf8',
    });
  }

  test('recreates every change from a dirty start, new and binary files and odd names included', async () => {
    const latin = Buffer.from([0x63, 0xe9, 0x0a]);
    const repo = gitRepo({
      'a.txt': 'one\n',
      'gone.txt': 'x\n',
      'move.txt': 'text\n'.repeat(9),
      'latin.txt': 'x\n',
      '.gitignore': 'start\nignored\n',
    });
    writeTree(repo.root, { 'a.txt': 'dirty\n', 'untracked.txt': 'u\n', ignored: 'i' });
    execFileSync(
      'sh',
      ['-c', 'mkdir start && cp -a a.txt gone.txt move.txt latin.txt .gitignore untracked.txt ignored start'],
      { cwd: repo.root },
    );
    const git = gitOn(repo.root);
    const tree = (await git.snapshot()) ?? '';
    expect(await git.patchSince(tree)).toBe('');
    const odd = {
      'it is "odd"\t[*]?.txt': latin,
      'docs/日本語.md': 'neu\n',
      'no-newline': 'x',
      'crlf.txt': 'a\r\nb\r\n',
    };
    writeTree(repo.root, { 'a.txt': 'run\n', 'bin/x.bin': Buffer.from([0, 1, 2]), 'latin.txt': latin, ...odd });
    writeFileSync(Buffer.concat([Buffer.from(`${repo.root}/caf`), Buffer.from([0xe9])]), latin);
    rmSync(join(repo.root, 'gone.txt'));
    renameSync(join(repo.root, 'move.txt'), join(repo.root, 'moved.txt'));
    rmSync(join(repo.root, 'untracked.txt'));
    const patch = await git.patchSince(tree);
    expect(patch).toContain('-dirty\n+run\n');
    expect(patch).toContain('GIT binary patch');
    expect(roundTrip(repo, patch)).toBe('');
  });

  test('never writes the repository: objects and index lie in the scratch folder', async () => {
    const repo = gitRepo({ 'a.txt': 'one\n' });
    const listing = () =>
      execFileSync('sh', ['-c', 'find .git -type f | sort | xargs sha256sum'], { cwd: repo.root, encoding: 'utf8' });
    writeTree(repo.root, { 'a.txt': 'dirty', 'new.txt': 'x' });
    const before = listing();
    const git = gitOn(repo.root);
    const tree = (await git.snapshot()) ?? '';
    writeTree(repo.root, { 'a.txt': 'run' });
    expect(await git.patchSince(tree)).toContain('+run');
    expect(await git.state()).toMatchObject({ dirty: true });
    expect(listing()).toBe(before);
  });

  test('another runner goes on from the same scratch folder', async () => {
    const repo = gitRepo({ 'a.txt': 'one\n' });
    const scratch = join(tempFolder(), 'deep/scratch');
    writeTree(repo.root, { 'u.txt': 'before\n' });
    const tree = (await gitOn(repo.root, { scratch }).snapshot()) ?? '';
    writeTree(repo.root, { 'u.txt': 'after\n' });
    repo.commit({});
    expect(await gitOn(repo.root, { scratch }).patchSince(tree)).toContain('-before\n+after');
    await expect(gitOn(repo.root).patchSince(tree)).rejects.toThrow('cannot compare');
  });

  test('holds a change of the same second and size, which the times of files do not show', async () => {
    const repo = gitRepo({ 'a.txt': 'one\n' });
    const [file, index] = [join(repo.root, 'a.txt'), join(repo.root, '.git/index')];
    repo.git('config', 'core.trustctime', 'false');
    utimesSync(file, 1_700_000_000, 1_700_000_000);
    repo.git('update-index', '--refresh');
    utimesSync(index, 1_700_000_000.9, 1_700_000_000.9);
    const git = gitOn(repo.root);
    const tree = (await git.snapshot()) ?? '';
    writeTree(repo.root, { 'a.txt': 'two\n' });
    utimesSync(file, 1_700_000_000, 1_700_000_000);
    expect(await git.patchSince(tree)).toContain('-one\n+two');
  });

  test('leaves out the run folder, ignored files, huge files and repositories of their own, and names the latter', async () => {
    const repo = gitRepo({ 'a.txt': 'one\n', '.gitignore': '*.log\n' });
    const git = gitOn(repo.root, { exclude: [join(repo.root, 'runs/1')] });
    const tree = (await git.snapshot()) ?? '';
    writeTree(repo.root, { 'a.txt': 'two\n', 'runs/1/result.json': '{}', 'x.log': '', 'big.bin': '' });
    truncateSync(join(repo.root, 'big.bin'), 60 * 1024 * 1024);
    mkdirSync(join(repo.root, 'empty'));
    execFileSync('git', ['init', '-q', 'empty'], { cwd: repo.root });
    execFileSync('mkfifo', [join(repo.root, 'pipe')]);
    const patch = await git.patchSince(tree);
    expect(patch).toMatch(/^left out, .*: "big\.bin", "empty\/"\ndiff --git a\/a\.txt/);
    expect(patch.match(/^diff --git /gm)).toHaveLength(1);
  });

  test('is kept when the repository makes the conversion of its files fatal', async () => {
    const repo = gitRepo({ 'pkg/a.txt': 'one\n' });
    writeTree(repo.root, { '.gitattributes': '* working-tree-encoding=UTF-16\n' });
    for (const root of [repo.root, join(repo.root, 'pkg')]) {
      const git = gitOn(root);
      const tree = (await git.snapshot()) ?? '';
      writeTree(repo.root, { 'pkg/a.txt': `two ${root}\n`, 'pkg/new.txt': `new ${root}\n` });
      const patch = await git.patchSince(tree);
      expect(patch).toContain(`+two ${root}\n`);
      expect(patch).toContain(`+new ${root}\n`);
    }
  });

  test('of a workspace below the top holds its files only, by their names from there', async () => {
    const repo = gitRepo({ 'pkg/a.txt': 'one\n', 'other.txt': '' });
    const git = gitOn(join(repo.root, 'pkg'));
    const tree = (await git.snapshot()) ?? '';
    writeTree(repo.root, { 'pkg/a.txt': 'two\n', 'pkg/latin': Buffer.from([0xe9, 0x0a]), 'other.txt': 'x' });
    const patch = await git.patchSince(tree);
    expect(patch.match(/^diff --git .*$/gm)).toEqual(['diff --git a/a.txt b/a.txt', 'diff --git a/latin b/latin']);
    expect(patch).toContain('GIT binary patch');
  });

  test('works in a linked worktree, with SHA-256 and without a commit', async () => {
    const repo = gitRepo({ 'a.txt': 'one\n' });
    repo.git('worktree', 'add', '-q', join(tempFolder(), 'w'));
    const other =
      repo
        .git('worktree', 'list', '--porcelain')
        .trim()
        .split('\n')
        .findLast((line) => line.startsWith('worktree ')) ?? '';
    const sha256 = tempFolder();
    execFileSync('git', ['init', '-q', '--object-format=sha256'], { cwd: sha256 });
    for (const root of [other.slice('worktree '.length), sha256]) {
      const git = gitOn(root);
      const tree = (await git.snapshot()) ?? '';
      writeTree(root, { 'new.txt': 'new\n' });
      expect(await git.patchSince(tree)).toContain('+new');
    }
    expect(readdirSync(join(sha256, '.git/objects')).toSorted()).toEqual(['info', 'pack']);
    expect(readFileSync(join(repo.root, 'a.txt'), 'utf8')).toBe('one\n');
  });

  test('is null without a repository', async () => {
    expect(await gitOn(tempFolder()).snapshot()).toBeNull();
  });
});
