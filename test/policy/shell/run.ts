import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { GIT_ENV } from './workspace.ts';

/** How a script ended, without what differs between two folders or two minutes. */
export interface Ending {
  readonly status: number | null;
  readonly stdout: string;
}

/** Runs a script in a folder with an environment of its own and no input. */
export function runScript(
  shell: 'bash' | 'dash',
  script: string,
  root: string,
  extra: Readonly<Record<string, string>> = {},
): Ending {
  const flags = shell === 'bash' ? ['--norc', '--noprofile'] : [];
  const env = { PATH: process.env['PATH'] ?? '', HOME: join(root, '..'), LC_ALL: 'C.UTF-8', ...GIT_ENV, ...extra };
  const { status, stdout } = spawnSync(`/bin/${shell}`, [...flags, '-c', script], {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 20_000,
  });
  const lines = stdout
    .replaceAll(root, 'ROOT')
    .replace(/\b\d\d:\d\d(?::\d\d(?:\.\d+)?)?\b/g, 'TIME')
    .split('\n');
  return { status, stdout: lines.sort().join('\n') };
}

/** Every file of a folder with its text, the git directory's own bookkeeping left out. */
export function readTree(root: string, at = root): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(at)) {
    const path = join(at, name);
    if (name === '.git') continue;
    if (statSync(path).isDirectory()) Object.assign(found, readTree(root, path));
    else found[relative(root, path)] = readFileSync(path, 'utf8').replaceAll(root, 'ROOT');
  }
  return found;
}
