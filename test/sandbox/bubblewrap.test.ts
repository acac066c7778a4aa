import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from '../helpers/temp.ts';
import { describe, expect, test } from 'vitest';
import { inside, missing, workspace } from './inside.ts';

describe.skipIf(missing)('a call in the sandbox (needs bubblewrap)', () => {
  test('reads and writes the workspace and keeps the exit code', () => {
    const folder = workspace();
    const result = inside(folder, 'cat README.md; echo new > new.txt; exit 7');
    expect(result.stdout).toBe('hello\n');
    expect(result.status).toBe(7);
    expect(readFileSync(join(folder, 'new.txt'), 'utf8')).toBe('new\n');
  });

  test('sees no variable but its own, in no process', () => {
    process.env['CANARY_OF_THE_RUNNER'] = 'do-not-show';
    const result = inside(workspace(), 'cat /proc/*/environ | tr "\\0" "\\n"; env', { env: { CI: 'true' } });
    delete process.env['CANARY_OF_THE_RUNNER'];
    expect(result.stdout).not.toContain('do-not-show');
    expect(result.stdout).toContain('CI=true');
  });

  test('finds neither credentials nor remotes in the git configuration, but the identity', () => {
    const result = inside(workspace(), 'cat .git/config; git log --format=%s; git config user.name');
    expect(result.stdout).not.toContain('AUTHORIZATION');
    expect(result.stdout).toContain('first\nSomebody');
  });

  test('cannot change or move the git folder', () => {
    const folder = workspace();
    const before = readFileSync(join(folder, '.git', 'config'), 'utf8');
    const result = inside(folder, 'echo x >> .git/config; echo x > .git/hooks/post-checkout; mv .git .g; ls -d .git');
    expect(result.stdout).toBe('.git\n');
    expect(readFileSync(join(folder, '.git', 'config'), 'utf8')).toBe(before);
    expect(existsSync(join(folder, '.git', 'hooks', 'post-checkout'))).toBe(false);
    expect(existsSync(join(folder, '.g'))).toBe(false);
  });

  test('cannot plant a repository, an agent file or a workflow where there was none, and leaves no trace', () => {
    const folder = workspace(false);
    inside(
      folder,
      'mkdir .git; echo x > .git/config; echo x > AGENTS.md; mkdir -p .github/workflows .claude; echo x > .github/workflows/a.yml; echo x > .claude/a',
    );
    expect(readdirSync(folder)).toEqual(['README.md']);
  });

  test('commits with git_write, but cannot add hooks or configuration', () => {
    const folder = workspace();
    const config = { git_write: true };
    const script =
      'git commit -q --allow-empty -m second; echo x > .git/hooks/pre-commit; echo x > .git/commondir; git config core.pager x; git log --format=%s';
    const result = inside(folder, script, { config });
    expect(result.stdout).toBe('second\nfirst\n');
    expect(existsSync(join(folder, '.git', 'commondir'))).toBe(false);
    expect(existsSync(join(folder, '.git', 'hooks', 'pre-commit'))).toBe(false);
    expect(readFileSync(join(folder, '.git', 'config'), 'utf8')).not.toContain('pager');
  });

  test('sees no network, no home, no temporary files of the machine and no run folder', () => {
    const folder = workspace();
    mkdirSync(join(folder, 'results'));
    writeFileSync(join(folder, 'results', 'result.json'), '{}');
    const outside = tempFolder();
    const script = `ls results; ls ${outside}; ls -A /root /home; cat /proc/net/dev | tail -n +3 | grep -v lo:`;
    const result = inside(folder, script, { hidden: [join(folder, 'results')] });
    expect(result.stdout.replaceAll(/^\/(root|home):$|^$/gm, '').trim()).toBe('');
  });

  test('keeps locked files as they are', () => {
    const folder = workspace();
    inside(folder, 'echo x > README.md; rm -f README.md; mv README.md b', { locked: [join(folder, 'README.md')] });
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe('hello\n');
  });

  test('can be confined to some folders of the workspace', () => {
    const folder = workspace();
    mkdirSync(join(folder, 'dist'));
    inside(folder, 'echo x > top.txt; echo x > dist/a.txt', { config: { write: ['dist'] } });
    expect(existsSync(join(folder, 'top.txt'))).toBe(false);
    expect(readFileSync(join(folder, 'dist', 'a.txt'), 'utf8')).toBe('x\n');
  });

  test('cannot make a namespace of its own', () => {
    const result = inside(workspace(), 'unshare --user true && echo made');
    expect(result.stdout).toBe('');
  });
});
