import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { INNER_SOCKET, proxyVariables, withForwarder } from './forwarder.ts';
import { minimalGitConfig } from './git-config.ts';
import { nestedGitFolders, readConfig } from './git-mounts.ts';
import { buildProfile } from './profile.ts';
import { innerHome } from './system-mounts.ts';
import type { SandboxConfig } from '../core/config.ts';
import type { Boundary } from '../core/ports.ts';
import type { GitCovers } from './git-mounts.ts';
import type { KeptLink, Made } from './layer.ts';
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
/** In blocks of 512 bytes: no file larger than 4 GiB, and no memory dumps, which hold whatever a program knew. */
const LIMITS = 'ulimit -f 8388608 && ulimit -c 0; exec "$@"';

/** One bubblewrap namespace per call (threat model, section 5). */
export function createSandbox(options: SandboxOptions): Sandbox {
  const own = mkdtempSync(join(tmpdir(), 'agent-run-'));
  const { proxy_socket, workspace } = options;
  const [exclude, empty] = [join(own, 'git-exclude'), join(own, 'empty')];
  writeFileSync(empty, '');
  const proxied =
    proxy_socket === undefined
      ? []
      : [
          [proxy_socket, INNER_SOCKET],
          [process.execPath, process.execPath],
        ];
  const env: Record<string, string> = {
    ...options.env,
    HOME: innerHome(options.home, workspace),
    ...(proxy_socket === undefined ? {} : proxyVariables()),
  };
  const constant: Omit<ProfileOptions, 'path'> = {
    ...options,
    nested_git: nestedGitFolders(workspace),
    covers: createCovers(own),
    empty,
    extra: [[exclude, EXCLUDE], ...proxied] as [string, string][],
  };
  const marks = new Marks(workspace, exclude);
  return {
    state: { mode: options.config.mode, active: 'bubblewrap', detail: 'bubblewrap' },
    env,
    wrap(argv, cwd) {
      // Built anew for each call: an earlier one may have made or removed what is covered.
      const profile = buildProfile({ ...constant, path: env['PATH'] ?? '' });
      marks.take(profile);
      const inner = proxy_socket === undefined ? argv : withForwarder(argv);
      const command = ['/bin/sh', '-c', LIMITS, 'sh', ...inner];
      return {
        argv: [BWRAP, ...profile.args, '--chdir', cwd, '--', ...command],
        cwd: '/',
        env,
        release: () => marks.release(),
      };
    },
    dispose() {
      marks.clear();
      rmSync(own, { recursive: true, force: true });
    },
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

/** What calls leave in the workspace: mount points that bwrap made, and links that a tool may have replaced. */
class Marks {
  private running = 0;
  private readonly made = new Map<string, Made>();
  private links: readonly KeptLink[] = [];
  private readonly workspace: string;
  private readonly exclude: string;

  constructor(workspace: string, exclude: string) {
    this.workspace = workspace;
    this.exclude = exclude;
    writeFileSync(exclude, '');
  }

  take({ made, links }: { made: readonly Made[]; links: readonly KeptLink[] }): void {
    this.running += 1;
    for (const mark of made) {
      this.made.set(mark.path, mark);
      if (mark.before) makeFolder(mark.path);
    }
    this.links = links;
    const names = [...this.made.keys()].map((path) => `/${relative(this.workspace, path)}\n`);
    // In place: a call that runs already sees the same file.
    writeFileSync(this.exclude, names.join(''));
  }

  release(): void {
    this.running -= 1;
    if (this.running === 0) this.clear();
  }

  clear(): void {
    for (const link of this.links) restoreLink(link);
    // Children first; they were found after their parents.
    for (const mark of [...this.made.values()].toReversed()) removeMark(mark);
    this.made.clear();
    this.links = [];
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch {
    // EEXIST: another call made it. EROFS, EACCES: bwrap will say so.
  }
}

/** Only what is still empty goes: nothing inside the sandbox could have written there. */
function removeMark({ path, kind }: Made): void {
  try {
    if (kind === 'folder') rmdirSync(path);
    else if (statSync(path).size === 0) rmSync(path);
  } catch {
    // ENOENT or ENOTEMPTY: never made, gone already, or not ours.
  }
}

function restoreLink({ path, target }: KeptLink): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink() && readlinkSync(path) === target) return;
  rmSync(path, { recursive: true, force: true });
  symlinkSync(target, path);
}
