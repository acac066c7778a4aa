import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { PROTECTED_FILES, PROTECTED_FOLDERS } from '../core/protected-names.ts';
import type { SandboxConfig } from '../core/config.ts';

export interface ProfileOptions {
  config: SandboxConfig;
  /** Real absolute path. */
  workspace: string;
  /** Folders below the workspace that tools must not see (the run folder). */
  hidden: readonly string[];
  /** Files below the workspace that stay read-only (the task and what it names). */
  locked: readonly string[];
  /** The runner's home; inside it is empty but for `sandbox.read`. */
  home: string;
  /** PATH as the tools get it. */
  path: string;
  /** Files of ours that cover git's own: the minimal configuration, and a `commondir` that names the folder itself. */
  git_config: string;
  git_commondir: string;
}

export interface Profile {
  /** bwrap's options, without the command. */
  args: string[];
  /** Mount points that bwrap has to make in the workspace; removed when no call runs any more. */
  made: { path: string; kind: 'file' | 'folder' }[];
}

const SYSTEM = ['/usr', '/etc', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix'];
// Fresh and empty: hides sockets, homes and the CI runner's temporary folder.
const EMPTY = ['/tmp', '/run', '/home', '/root', '/var/tmp', '/mnt', '/media', '/srv'];
const HIDDEN_SYSTEM_FILES = ['/etc/shadow', '/etc/gshadow', '/etc/sudoers'];

/** bwrap's arguments for one tool call (threat model, section 5). Later mounts cover earlier ones. */
export function buildProfile(options: ProfileOptions): Profile {
  const made: Profile['made'] = [];
  const args = [
    ...isolation(options.config.network),
    ...SYSTEM.flatMap(systemMount),
    ...HIDDEN_SYSTEM_FILES.filter((file) => existsSync(file)).flatMap((file) => ['--ro-bind', '/dev/null', file]),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...EMPTY.filter((folder) => existsSync(folder)).flatMap((folder) => ['--tmpfs', folder]),
    '--dir',
    options.home,
    ...(options.config.network === true ? resolver() : []),
    ...pathMounts(options.path),
    ...options.config.read.flatMap((path) => bindExisting('--ro-bind', expand(path, options))),
    ...workspaceMounts(options),
    ...options.hidden.flatMap((folder) => ['--tmpfs', folder]),
    ...gitMounts(options, made),
    ...protectedMounts(options, made),
    ...options.locked.flatMap((file) => bindExisting('--ro-bind', file)),
  ];
  return { args, made };
}

const ISOLATED = '--unshare-all --unshare-user --disable-userns --die-with-parent --new-session --cap-drop ALL';

function isolation(network: SandboxConfig['network']): string[] {
  // --share-net takes back what --unshare-all gave away, so it stands behind it.
  return [...ISOLATED.split(' '), '--hostname', 'sandbox', ...(network === true ? ['--share-net'] : [])];
}

function systemMount(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return lstatSync(folder).isSymbolicLink()
    ? ['--symlink', readlinkSync(folder), folder]
    : ['--ro-bind', folder, folder];
}

/** /etc/resolv.conf is often a link into /run, which is empty inside. */
function resolver(): string[] {
  const file = '/etc/resolv.conf';
  if (!existsSync(file)) return [];
  const real = realpathSync(file);
  return real === file ? [] : ['--ro-bind', real, real];
}

/** Tools installed outside /usr: the folder on PATH and the libraries beside it, but never their whole prefix. */
function pathMounts(path: string): string[] {
  const folders = path.split(':').filter((folder) => folder.startsWith('/') && existsSync(folder) && !isSystem(folder));
  return folders.flatMap((folder) => {
    const real = realpathSync(folder);
    const prefix = dirname(real);
    const beside = basename(real) === 'bin' ? ['lib', 'lib64', 'libexec'].map((name) => join(prefix, name)) : [];
    return [real, ...beside].flatMap((item) => bindExisting('--ro-bind', item));
  });
}

function isSystem(folder: string): boolean {
  return SYSTEM.some((root) => folder === root || folder.startsWith(`${root}/`));
}

function bindExisting(flag: string, path: string): string[] {
  return existsSync(path) ? [flag, path, path] : [];
}

function expand(path: string, { home, workspace }: ProfileOptions): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  return resolve(workspace, path);
}

function workspaceMounts(options: ProfileOptions): string[] {
  const { workspace, config } = options;
  const whole = config.write.some((path) => resolve(workspace, path) === workspace);
  if (whole) return ['--bind', workspace, workspace];
  return [
    '--ro-bind',
    workspace,
    workspace,
    ...config.write.flatMap((path) => bindExisting('--bind', expand(path, options))),
  ];
}

/** Parts of a writable git folder through which a later git call could be made to run something. */
const GIT_HELPERS = ['hooks', 'info', 'modules'];

function gitMounts(options: ProfileOptions, made: Profile['made']): string[] {
  const git = join(options.workspace, '.git');
  if (!existsSync(git)) return absent(git, 'file', made);
  if (!lstatSync(git).isDirectory()) return ['--ro-bind', git, git]; // a worktree's or submodule's pointer
  const cover = ['--ro-bind', options.git_config, join(git, 'config')];
  if (!options.config.git_write) return ['--ro-bind', git, git, ...cover];
  const helpers = GIT_HELPERS.map((name) => join(git, name));
  return [
    ...cover,
    ...helpers.flatMap((path) => (existsSync(path) ? ['--ro-bind', path, path] : absent(path, 'folder', made))),
    ...covered(join(git, 'commondir'), options.git_commondir, made),
    ...covered(join(git, 'config.worktree'), '/dev/null', made),
  ];
}

/** A file that must not appear: shown with harmless content where it does not exist. */
function covered(path: string, harmless: string, made: Profile['made']): string[] {
  if (existsSync(path)) return ['--ro-bind', path, path];
  made.push({ path, kind: 'file' });
  return ['--ro-bind', harmless, path];
}

function protectedMounts({ workspace, config }: ProfileOptions, made: Profile['made']): string[] {
  if (!config.write.some((path) => resolve(workspace, path) === workspace)) return [];
  const mount = (name: string, kind: 'file' | 'folder'): string[] => {
    const path = join(workspace, name);
    return existsSync(path) ? ['--ro-bind', path, path] : absent(path, kind, made);
  };
  return [
    ...PROTECTED_FILES.flatMap((name) => mount(name, 'file')),
    ...PROTECTED_FOLDERS.flatMap((name) => mount(name, 'folder')),
  ];
}

/** Something read-only and empty stands where nothing is, so that nothing can be planted there. */
function absent(path: string, kind: 'file' | 'folder', made: Profile['made']): string[] {
  const parent = dirname(path);
  if (!existsSync(parent)) made.push({ path: parent, kind: 'folder' });
  made.push({ path, kind });
  return kind === 'file' ? ['--ro-bind', '/dev/null', path] : ['--tmpfs', path, '--remount-ro', path];
}
