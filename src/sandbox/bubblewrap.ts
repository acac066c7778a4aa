import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createCgroup } from './cgroup.ts';
import { INNER_SOCKET, proxyVariables, withForwarder } from './forwarder.ts';
import { minimalGitConfig } from './git-config.ts';
import { nestedGitFolders, readConfig } from './git-mounts.ts';
import { Marks } from './marks.ts';
import { limitInside, limitOutside } from './process-limits.ts';
import { buildProfile, machineMounts } from './profile.ts';
import { innerHome } from './system-mounts.ts';
import type { SandboxConfig } from '../core/config.ts';
import type { Boundary } from '../core/ports.ts';
import type { GitCovers } from './git-mounts.ts';
import type { ProfileOptions } from './profile.ts';

export const BWRAP = '/usr/bin/bwrap';

export interface SandboxOptions {
  config: SandboxConfig;
  /** Real absolute path. */
  workspace: string;
  /** Folders tools must not see: the run folder, the CI runner's temporary folder. */
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

/** Where git finds the names of mount points, so that they are no untracked files. */
const EXCLUDE = '/run/agent-run-exclude';

/** One bubblewrap namespace per call (threat model, section 5). What calls need is made for the first of them: many runs make none. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { proxy_socket } = options;
  const env: Record<string, string> = {
    ...options.env,
    HOME: innerHome(options.home, options.workspace),
    ...(proxy_socket === undefined ? {} : proxyVariables()),
  };
  let made: Ground | undefined;
  return {
    state: { mode: options.config.mode, active: 'bubblewrap', detail: 'bubblewrap' },
    env,
    wrap(argv, cwd) {
      const { machine, constant, marks, cgroup } = (made ??= prepareGround(options));
      // Built anew for each call: an earlier one may have made or removed what is covered.
      const profile = buildProfile(machine, constant);
      marks.take(profile);
      const inner = proxy_socket === undefined ? argv : withForwarder(argv);
      const held = [BWRAP, ...profile.args, '--chdir', cwd, '--', ...limitInside(inner)];
      return {
        argv: limitOutside(held, cgroup),
        holder: basename(BWRAP),
        cwd: '/',
        env,
        release: () => marks.release(),
      };
    },
    dispose() {
      if (!made) return;
      made.cgroup?.dispose();
      made.marks.clear();
      rmSync(made.own, { recursive: true, force: true });
    },
  };
}

/** What all calls of a run stand on. */
interface Ground {
  /** Our own temporary files. */
  own: string;
  constant: ProfileOptions;
  machine: ReturnType<typeof machineMounts>;
  marks: Marks;
  cgroup: ReturnType<typeof createCgroup>;
}

function prepareGround(options: SandboxOptions): Ground {
  const own = mkdtempSync(join(tmpdir(), 'agent-run-'));
  const exclude = join(own, 'git-exclude');
  const marks = new Marks(options.workspace, exclude);
  const cgroup = createCgroup(basename(own));
  const constant = constantOptions(options, own, exclude);
  return { own, constant, machine: machineMounts(constant), marks, cgroup };
}

/** What is the same for every call. */
function constantOptions(options: SandboxOptions, own: string, exclude: string): ProfileOptions {
  const empty = { file: join(own, 'empty'), folder: join(own, 'empty-folder') };
  writeFileSync(empty.file, '');
  mkdirSync(empty.folder);
  const { proxy_socket } = options;
  const proxied: [string, string][] =
    proxy_socket === undefined
      ? []
      : [
          [proxy_socket, INNER_SOCKET],
          [process.execPath, process.execPath],
        ];
  return {
    ...options,
    path: options.env['PATH'] ?? '',
    nested_git: nestedGitFolders(options.workspace),
    covers: createCovers(own),
    empty,
    extra: [[exclude, EXCLUDE], ...proxied],
  };
}

/** Files that stand in for git's own, written once for each git folder. */
function createCovers(own: string): GitCovers {
  const commondir = join(own, 'git-commondir');
  writeFileSync(commondir, '.\n');
  const written = new Map<string, string>();
  return {
    commondir,
    config(git) {
      const known = written.get(git);
      if (known !== undefined) return known;
      const file = join(own, `git-config-${written.size}`);
      writeFileSync(file, minimalGitConfig(readConfig(git), EXCLUDE));
      written.set(git, file);
      return file;
    },
  };
}
