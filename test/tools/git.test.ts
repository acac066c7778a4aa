import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createGit, gitArgv } from '../../src/tools/git.ts';
import { exec } from '../../src/workspace/exec.ts';
import { writeTree } from '../helpers/temp.ts';
import { makeFixture, plainBoundary } from '../policy/case-fixture.ts';
import { call, textOf } from './tool-context.ts';

async function git(root: string, args: string[]) {
  const tool = createGit({ exec, boundary: plainBoundary(root), cwd: root });
  const output = await call(tool, { args: ['not', 'these'] }, { kind: 'argv', effect: 'read', argv: ['git', ...args] });
  return { status: output.status, text: textOf(output) };
}

describe('the git tool', () => {
  test('runs the argument list of the plan without a shell', async () => {
    const { root } = makeFixture();
    expect(await git(root, ['log', '--format=%s; $(id) %an'])).toEqual({ status: 'ok', text: 'first; $(id) t' });
    expect(await git(root, ['status', '--short'])).toEqual({ status: 'ok', text: '(no output)' });
    expect(await git(root, ['blame', '-s', 'README.md'])).toMatchObject({
      status: 'ok',
      text: expect.stringContaining('hello'),
    });
    expect(await git(root, ['show', 'no-such-revision'])).toMatchObject({
      status: 'error',
      text: expect.stringContaining('[exit code 128]'),
    });
  });

  test('runs no program that the repository names', async () => {
    const { root } = makeFixture();
    const pwn = join(root, 'pwn');
    const config = (name: string, value: string) => execFileSync('git', ['config', name, value], { cwd: root });
    config('core.fsmonitor', `touch ${pwn} #`);
    config('core.pager', `touch ${pwn} #`);
    config('diff.external', `touch ${pwn} #`);
    config('diff.evil.textconv', `touch ${pwn} #`);
    config('diff.evil.command', `touch ${pwn} #`);
    config('gpg.program', `touch ${pwn} #`);
    config('log.showSignature', 'true');
    writeTree(root, { '.gitattributes': '*.md diff=evil\n', 'README.md': 'changed\n' });
    for (const args of [
      ['status'],
      ['diff'],
      ['diff', 'HEAD'],
      ['log', '-p'],
      ['show', 'HEAD'],
      ['blame', 'README.md'],
      ['log', '-1'],
    ]) {
      expect((await git(root, args)).status, args.join(' ')).toBe('ok');
    }
    expect(existsSync(pwn)).toBe(false);
  });

  test('does not enter a bare repository that a pull request brought', async () => {
    const { root } = makeFixture();
    execFileSync('git', ['init', '-q', '--bare', join(root, 'buried')]);
    const tool = createGit({ exec, boundary: plainBoundary(root), cwd: join(root, 'buried') });
    const output = await call(tool, { args: [] }, { kind: 'argv', effect: 'read', argv: ['git', 'status'] });
    expect(textOf(output)).toContain('bare repository');
  });
});

test('the options that switch helpers off stand before the arguments of the call', () => {
  expect(gitArgv(['git', 'diff', '--', 'a']).slice(-5)).toEqual(['diff', '--no-ext-diff', '--no-textconv', '--', 'a']);
  expect(gitArgv(['git', 'status', '-s']).slice(-2)).toEqual(['status', '-s']);
});
