import { mkdtempSync, readFileSync, rmSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { INNER_SOCKET, proxyVariables, withForwarder } from './forwarder.ts';
import { minimalGitConfig } from './git-config.ts';
import { buildProfile } from './profile.ts';
import type { SandboxConfig } from '../core/config.ts';
import type { Boundary } from '../core/ports.ts';
import type { Profile } from './profile.ts';

export const BWRAP = '/usr/bin/bwrap';

export interface SandboxOptions {
  config: SandboxConfig;
  /** Real absolute path. */
  workspace: string;
  /** Folders tools must not see: the run folder. */
  hidden: readonly string[];
  /** Files that stay read-only: the task and what it names. */
  locked: readonly string[];
  /** The whole environment of a tool; bwrap itself is started with nothing else. */
  env: Readonly<Record<string, string>>;
  home: string;
  /** Socket of the host proxy, when `network` is a list. */
  proxy_socket?: string;
}

export interface Sandbox extends Boundary {
  /** Removes the mount points that bwrap had to make, and our own temporary files. */
  dispose(): void;
}

/** One bubblewrap namespace per call (threat model, section 5). */
export function createSandbox(options: SandboxOptions): Sandbox {
  const own = mkdtempSync(join(tmpdir(), 'agent-run-'));
  const git_config = join(own, 'git-config');
  writeFileSync(git_config, minimalGitConfig(readOrEmpty(join(options.workspace, '.git', 'config'))));
  const git_commondir = join(own, 'git-commondir');
  writeFileSync(git_commondir, '.\n');
  const { proxy_socket } = options;
  const proxied =
    proxy_socket === undefined
      ? []
      : ['--ro-bind', proxy_socket, INNER_SOCKET, '--ro-bind', process.execPath, process.execPath];
  const env: Record<string, string> = {
    ...options.env,
    HOME: options.home,
    ...(proxy_socket === undefined ? {} : proxyVariables()),
  };
  let running = 0;
  let made: Profile['made'] = [];

  const release = (): void => {
    running -= 1;
    if (running === 0) removeMade(made);
  };
  return {
    state: { mode: options.config.mode, active: 'bubblewrap', detail: 'bubblewrap' },
    env,
    wrap(argv, cwd) {
      // Built anew for each call: an earlier one may have made or removed what is covered.
      const profile = buildProfile({ ...options, path: env['PATH'] ?? '', git_config, git_commondir });
      running += 1;
      made = running === 1 ? profile.made : [...made, ...profile.made];
      const inner = proxy_socket === undefined ? argv : withForwarder(argv);
      return { argv: [BWRAP, ...profile.args, ...proxied, '--chdir', cwd, '--', ...inner], cwd: '/', env, release };
    },
    dispose() {
      removeMade(made);
      rmSync(own, { recursive: true, force: true });
    },
  };
}

/** Only what is still empty goes: nothing inside the sandbox could have written there. */
function removeMade(made: Profile['made']): void {
  for (const { path, kind } of made.toReversed()) {
    try {
      if (kind === 'folder') rmdirSync(path);
      else if (statSync(path).size === 0) rmSync(path);
    } catch {
      // ENOENT or ENOTEMPTY: never made, gone already, or not ours.
    }
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // ENOENT, ENOTDIR: no repository, or a worktree's pointer.
    return '';
  }
}
