import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BWRAP, createSandbox, type SandboxOptions } from '../../src/sandbox/bubblewrap.ts';
import type { SandboxConfig } from '../../src/core/config.ts';
import { tempFolder } from '../helpers/temp.ts';

export const CONFIG: SandboxConfig = {
  mode: 'required',
  network: false,
  env: [],
  read: [],
  write: ['.'],
  git_write: false,
  allow_untrusted: false,
};

/** True where the tests that need bubblewrap are passed over. */
export const missing = !existsSync(BWRAP) && process.env['AGENT_RUN_REQUIRE_BWRAP'] !== '1';

/** A folder with a README, and by default a repository whose configuration holds a credential. */
export function workspace(git = true): string {
  const folder = tempFolder();
  writeFileSync(join(folder, 'README.md'), 'hello\n');
  if (!git) return folder;
  inRepository(folder, ['init', '-q']);
  inRepository(folder, ['config', 'http.https://example.invalid/.extraheader', 'AUTHORIZATION: basic c2VjcmV0']);
  inRepository(folder, ['config', 'user.name', 'Somebody']);
  inRepository(folder, ['-c', 'user.email=a@example.invalid', 'commit', '-q', '--allow-empty', '-m', 'first']);
  return folder;
}

/** Runs git outside the sandbox. */
export function inRepository(cwd: string, args: readonly string[]): string {
  const env = { PATH: process.env['PATH'] ?? '', GIT_CONFIG_GLOBAL: '/dev/null' };
  return execFileSync('git', args, { cwd, env, encoding: 'utf8' });
}

export interface Inside extends Partial<Omit<SandboxOptions, 'config'>> {
  config?: Partial<SandboxConfig>;
}

/** Runs a script in one sandbox of its own, from the workspace. */
export function inside(folder: string, script: string, { config, env, ...more }: Inside = {}) {
  const sandbox = createSandbox({
    config: { ...CONFIG, ...config },
    workspace: folder,
    hidden: [],
    locked: [],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
    home: '/root',
    ...more,
  });
  const wrapped = sandbox.wrap(['/bin/sh', '-c', script], folder);
  const [file = '', ...args] = wrapped.argv;
  const result = spawnSync(file, args, {
    cwd: wrapped.cwd,
    env: wrapped.env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  wrapped.release?.();
  sandbox.dispose();
  return result;
}
