import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempFolder, tempTree, writeTree } from '../helpers/temp.ts';
import { inRepository, inside, missing, workspace } from './inside.ts';

describe.skipIf(missing)('what tools must not change (needs bubblewrap)', () => {
  test('cannot be moved away with its parent folder and planted anew', () => {
    const folder = workspace();
    writeTree(folder, { '.github/dependabot.yml': 'a\n', '.github/workflows/ci.yml': 'good\n' });
    const result = inside(
      folder,
      'mv .github g; mkdir -p .github/workflows; echo evil > .github/workflows/ci.yml; echo b > .github/dependabot.yml',
    );
    expect(result.stderr).toContain('busy');
    expect(readFileSync(join(folder, '.github/workflows/ci.yml'), 'utf8')).toBe('good\n');
    expect(readFileSync(join(folder, '.github/dependabot.yml'), 'utf8')).toBe('b\n');
    expect(existsSync(join(folder, 'g'))).toBe(false);
  });

  test('cannot be planted where its parent folder was missing, too, and says so', () => {
    const folder = workspace();
    const result = inside(folder, 'echo evil > .github/workflows/ci.yml; mv .github g; echo {} > .mcp.json');
    expect(result.stderr.match(/Read-only file system/g)).toHaveLength(2);
    expect(readdirSync(folder).sort()).toEqual(['.git', 'README.md']);
  });

  test('keeps the run folder unseen and in its place, whatever is moved above it', () => {
    const folder = workspace();
    writeTree(folder, { 'results/review/1/transcript.jsonl': 'true\n' });
    const forge =
      'mv results r; mkdir -p results/review/1; echo forged > results/review/1/result.json; cat results/review/1/*';
    const result = inside(folder, forge, { hidden: [join(folder, 'results/review/1')] });
    expect(result.stdout).toBe('');
    expect(readdirSync(join(folder, 'results/review/1'))).toEqual(['transcript.jsonl']);
  });

  test('is put back when it is a link, and the file it leads to cannot be written', () => {
    const folder = workspace();
    writeTree(folder, { 'docs/agents.md': 'good\n' });
    symlinkSync('docs/agents.md', join(folder, 'AGENTS.md'));
    symlinkSync('.config/claude', join(folder, '.claude'));
    const plant =
      'echo evil > AGENTS.md; rm AGENTS.md .claude; echo evil > AGENTS.md; mkdir .claude; echo x > .claude/a';
    inside(folder, plant);
    expect(readlinkSync(join(folder, 'AGENTS.md'))).toBe('docs/agents.md');
    expect(readlinkSync(join(folder, '.claude'))).toBe('.config/claude');
    expect(readFileSync(join(folder, 'docs/agents.md'), 'utf8')).toBe('good\n');
  });

  test('shows nothing of the machine when it is a link that leads out, and calls still work', () => {
    const folder = workspace();
    const outside = join(tempFolder(), 'secret');
    writeFileSync(outside, 'do-not-show\n');
    symlinkSync(outside, join(folder, 'AGENTS.md'));
    symlinkSync(tempTree({ settings: 'do-not-show\n' }), join(folder, '.claude'));
    symlinkSync(`${'../'.repeat(20)}oldroot${outside}`, join(folder, '.mcp.json'));
    const result = inside(folder, 'cat AGENTS.md .mcp.json; ls .claude/; echo works');
    expect(result.stdout).toBe('works\n');
    expect(lstatSync(join(folder, '.mcp.json')).isSymbolicLink()).toBe(true);
  });

  test('is closed in a part of the workspace that the task opens, and open where the task names it', () => {
    const folder = workspace();
    writeTree(folder, { '.github/workflows/ci.yml': 'good\n', '.claude/a': 'a\n' });
    const config = { write: ['.github', '.claude'] };
    inside(folder, 'echo evil > .github/workflows/ci.yml; echo x > .github/x; echo b > .claude/a', { config });
    expect(readFileSync(join(folder, '.github/workflows/ci.yml'), 'utf8')).toBe('good\n');
    expect(readFileSync(join(folder, '.github/x'), 'utf8')).toBe('x\n');
    expect(readFileSync(join(folder, '.claude/a'), 'utf8')).toBe('b\n');
  });

  test('is not reached through a writable folder that is a link out of the workspace', () => {
    const folder = workspace();
    const outside = tempFolder();
    symlinkSync(outside, join(folder, 'dist'));
    symlinkSync(`${'../'.repeat(folder.split('/').length - 1)}usr/local`, join(folder, 'build'));
    const result = inside(folder, 'echo x > dist/a; echo x > build/agent-run-test', {
      config: { write: ['dist', 'build'] },
    });
    expect(result.status).not.toBe(0);
    expect(readdirSync(outside)).toEqual([]);
    expect(existsSync('/usr/local/agent-run-test')).toBe(false);
  });
});

describe.skipIf(missing)('git in the sandbox (needs bubblewrap)', () => {
  test('does not show mount points as untracked files, whatever else is new', () => {
    const folder = workspace();
    inRepository(folder, ['add', 'README.md']);
    const result = inside(folder, 'echo x > new.txt; git status --porcelain; git ls-files --others --exclude-standard');
    expect(result.stdout).toBe('A  README.md\n?? new.txt\nnew.txt\n');
  });

  test('stays in its place with git_write, so that no other repository can stand there', () => {
    const folder = workspace();
    inside(folder, 'mv .git g; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit', {
      config: { git_write: true },
    });
    expect(existsSync(join(folder, 'g'))).toBe(false);
    expect(readdirSync(join(folder, '.git/hooks'))).not.toContain('pre-commit');
  });

  test('finds no credential in submodules, in checkouts below, or in files beside the configuration', () => {
    const folder = workspace();
    const secret = '[http]\n\textraheader = AUTHORIZATION: do-not-show\n';
    writeTree(folder, {
      '.git/modules/lib/config': `[core]\n\tworktree = ../../../lib\n${secret}`,
      '.git/modules/deps/nested/config': secret,
      '.git/config.worktree': secret,
      '.git/credentials': 'https://x:do-not-show@example.invalid\n',
      'other/.git/HEAD': 'ref: refs/heads/main\n',
      'other/.git/config': secret,
    });
    mkdirSync(join(folder, 'other/.git/objects'));
    const script =
      'cat .git/modules/*/config .git/modules/*/*/config .git/config.worktree .git/credentials other/.git/config';
    const result = inside(folder, `${script}; mv other/.git other/g; echo x > other/.git/hook`);
    expect(result.stdout).not.toContain('do-not-show');
    expect(result.stdout).toContain('worktree = ../../../lib');
    expect(existsSync(join(folder, 'other/.git/hook'))).toBe(false);
  });

  test('works in a worktree and in a submodule, whose git folder lies elsewhere, without its credentials', () => {
    const main = workspace();
    writeFileSync(join(main, '.git/credentials'), 'do-not-show');
    const tree = join(tempFolder(), 'tree');
    inRepository(main, ['worktree', 'add', '-q', tree]);
    const script = `git log --format=%s && git status --short && cat ${main}/.git/config ${main}/.git/credentials; ls ${main}`;
    const result = inside(tree, script);
    expect(result.stdout).toMatch(/^first\n\[core\]/);
    expect(result.stdout).not.toMatch(/AUTHORIZATION|do-not-show|README/);
  });

  test('is not shown a folder that only a file calls a git folder', () => {
    const folder = workspace(false);
    const secret = join(tempFolder(), 'id_rsa');
    writeFileSync(secret, 'do-not-show');
    writeFileSync(join(folder, '.git'), `gitdir: ${dirname(secret)}\n`);
    expect(inside(folder, `cat ${secret}; echo works`).stdout).toBe('works\n');
  });

  test('says that there is no repository in a workspace without one', () => {
    const result = inside(workspace(false), 'git status');
    expect(result.stderr).toContain('not a git repository');
  });
});
