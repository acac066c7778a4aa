import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { gitEnvironment } from '../../../src/workspace/git-env.ts';
import { fill, type Fixture } from './fixture.ts';

export interface BashEnd {
  status: number | null;
  /** Lines in order of their text: two streams have no order of their own. */
  lines: string[];
}

/** Keeps a copy of the workspace as it is, for `runBash`. */
export function copyWorkspace({ base, workspace }: Fixture): string {
  const copy = join(base, 'copy');
  cpSync(workspace, copy, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  return copy;
}

/** What the original text does under bash, in a copy of the workspace and without a sandbox. */
export function runBash(fixture: Fixture, copy: string, command: string): BashEnd {
  const who = { GIT_AUTHOR_NAME: 'agent-run', GIT_AUTHOR_EMAIL: 'a@example.com' };
  const committer = { GIT_COMMITTER_NAME: 'agent-run', GIT_COMMITTER_EMAIL: 'a@example.com' };
  const plain = { PATH: fixture.env['PATH'], HOME: fixture.home, LANG: 'C.UTF-8', TERM: 'dumb' };
  // Where there is a network npm looks for a newer npm.
  const env = { ...plain, npm_config_update_notifier: 'false', ...gitEnvironment(copy) };
  const { status, stdout, stderr } = spawnSync('/bin/bash', ['--norc', '--noprofile', '-c', fill(fixture, command)], {
    cwd: copy,
    env: { ...env, ...who, ...committer },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { status, lines: linesOf(`${stdout}\n${stderr}`) };
}

/** The same of a tool result, whose last line says how the command ended unless that was 0. */
export function endOfResult(text: string): BashEnd {
  const [, output = '', code = '0'] = /^(.*?)\n?(?:\[exit code (\d+)\])?$/s.exec(text) ?? [];
  return { status: Number(code), lines: linesOf(output === '(no output)' ? '' : output) };
}

/** What differs between two folders, two commits or two minutes is left out. */
function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/^\[main [0-9a-f]+\]/, '[main HASH]').trimEnd());
  return lines.filter((line) => line !== '').sort();
}
