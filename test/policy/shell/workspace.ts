import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import picomatch from 'picomatch';
import type { PathJudge, PathVerdict } from '../../../src/policy/shell/judgement.ts';
import type { ShellRules } from '../../../src/policy/shell/rules.ts';
import { parseArgvRule } from '../../../src/policy/shell/rules.ts';

const PROTECTED =
  /(^|\/)\.git(\/|$)|^\.github\/(workflows|actions)\/|(^|\/)(\.gitattributes|\.gitmodules|\.mcp\.json|AGENTS\.md|CLAUDE\.md|GEMINI\.md)$|^\.(claude|codex|gemini)\//i;

export interface Setup {
  readonly file?: string;
  readonly script?: string;
  readonly text?: string;
  readonly dir?: string;
  readonly symlink?: string;
  readonly to?: string;
}

/** A real git workspace like the one the cases describe, in a folder of its own. */
export function makeWorkspace(setup: readonly Setup[] = []): { readonly root: string; readonly remove: () => void } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'shell-judge-')));
  const root = join(base, 'workspace');
  mkdirSync(join(root, 'src'), { recursive: true });
  const write = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode });
  };
  write('README.md', 'hello\n');
  write('src/app.ts', 'export const app = 1;\n');
  write('data.csv', 'b,2\na,1\nc,3\n');
  write('package.json', '{"name":"w","version":"1.0.0","scripts":{"test":"true","lint":"true","build":"true"}}\n');
  git(root, ['init', '-q', '-b', 'main']);
  git(root, ['add', '-A']);
  git(root, ['commit', '-q', '-m', 'first']);
  for (const step of setup) {
    if (step.file !== undefined) write(step.file, step.text ?? '');
    if (step.script !== undefined) write(step.script, step.text ?? '', 0o755);
    if (step.dir !== undefined) mkdirSync(join(root, step.dir), { recursive: true });
    if (step.symlink !== undefined) {
      mkdirSync(dirname(join(root, step.symlink)), { recursive: true });
      symlinkSync(step.to ?? '', join(root, step.symlink));
    }
  }
  return { root, remove: () => rmSync(base, { recursive: true, force: true }) };
}

export const GIT_ENV = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

function git(cwd: string, args: readonly string[]): void {
  execFileSync('git', args, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, ...GIT_ENV },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** File rules over a real folder: reads stay inside, writes must match a glob and miss the protected paths. */
export function makePathJudge(root: string, writable: readonly string[] = []): PathJudge {
  const matches = writable.length === 0 ? (): boolean => false : picomatch([...writable], { dot: true });
  const locate = (path: string, cwd: string): string => {
    const full = resolve(root, cwd, path);
    try {
      return realpathSync(full);
    } catch {
      // A file that is not there yet: its folder decides where it would be.
      return join(realpathSync(dirname(full)), full.slice(dirname(full).length + 1));
    }
  };
  const judge = async (
    path: string,
    cwd: string,
    check: (inside: string, full: string) => string | undefined,
  ): Promise<PathVerdict> => {
    let full: string;
    try {
      full = locate(path, cwd);
    } catch {
      return { ok: false, reason: 'no such folder' };
    }
    const inside = relative(root, full);
    if (inside.startsWith('..') || inside.startsWith('/')) return { ok: false, reason: 'outside the workspace' };
    const reason = check(inside, full);
    return reason === undefined ? { ok: true, resolved: full } : { ok: false, reason };
  };
  return {
    read: (path, cwd) => judge(path, cwd, () => undefined),
    write: (path, cwd) =>
      judge(path, cwd, (inside) =>
        PROTECTED.test(inside) ? 'protected' : matches(inside) ? undefined : 'no write rule covers it',
      ),
    directory: (path, cwd) => judge(path, cwd, (_, full) => (isFolder(full) ? undefined : 'no such folder')),
  };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Rules from texts; an error in one comes back as text, as it would when a task is loaded. */
export function makeRules(allow: readonly string[], deny: readonly string[] = []): ShellRules | string {
  const rules = {
    allow: allow.map((text) => parseArgvRule(text)),
    deny: deny.map((text) => parseArgvRule(text, 'deny')),
  };
  const bad = [...rules.allow, ...rules.deny].find((rule) => 'error' in rule);
  if (bad !== undefined && 'error' in bad) return bad.error;
  return {
    allow: rules.allow.flatMap((rule) => ('error' in rule ? [] : [rule])),
    deny: rules.deny.flatMap((rule) => ('error' in rule ? [] : [rule])),
  };
}
