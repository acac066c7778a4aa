import { constants, accessSync, existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';

const SYSTEM = ['/usr', '/etc', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix'];
/** Programs of their own, each in a folder; some machines keep the CI runner itself and its credentials there. */
const ADD_ONS = '/opt';
/** Fresh and empty: hides sockets, homes and the CI runner's temporary folder. */
const SCRATCH = ['/tmp', '/var/tmp', '/dev/shm'];
const EMPTY = ['/run', '/home', '/root', '/mnt', '/media', '/srv'];
const RUNNER_MARKS = ['.runner', '.credentials', '_work', '_diag'];

/** Memory that the files of one scratch folder may take: they are kept in memory. */
const SCRATCH_BYTES = Math.max(512 * 2 ** 20, Math.floor(totalmem() / 4));

/** The machine's programs, read-only, without what only its owner may read; `around` are folders that must not show. */
export function systemMounts(around: readonly string[]): string[] {
  return [
    ...SYSTEM.flatMap(systemMount),
    ...ownersFiles('/etc').flatMap(({ path, folder }) =>
      folder ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path],
    ),
    ...addOns(around).flatMap((folder) => ['--ro-bind', folder, folder]),
  ];
}

/** Folders with nothing in them; `sealScratch` must come behind everything that is mounted below them. */
export function scratchMounts(home: string): string[] {
  return [
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...EMPTY.filter((folder) => existsSync(folder)).flatMap((folder) => ['--dir', folder]),
    ...[...SCRATCH, home].flatMap(sizedFolder),
  ];
}

/** Makes read-only what only holds mount points, so that nothing fills the memory there. */
export function sealScratch(): string[] {
  return ['--remount-ro', '/dev', '--remount-ro', '/'];
}

function sizedFolder(folder: string): string[] {
  return ['--size', String(SCRATCH_BYTES), '--tmpfs', folder];
}

/** True for a folder that every call sees anyway. */
export function isSystem(folder: string): boolean {
  return SYSTEM.some((root) => isWithin(root, folder));
}

/** Where `~` is inside: the same path, unless something else has to stand there. */
export function innerHome(home: string, workspace: string): string {
  const usable = home.startsWith('/') && home !== '/' && !isWithin(workspace, home) && !isSystem(home);
  const taken = SCRATCH.includes(home) || ['/proc', '/dev'].some((folder) => isWithin(folder, home));
  return usable && !taken ? home : '/home/agent-run';
}

export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

function systemMount(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return lstatSync(folder).isSymbolicLink()
    ? ['--symlink', readlinkSync(folder), folder]
    : ['--ro-bind', folder, folder];
}

function addOns(around: readonly string[]): string[] {
  return list(ADD_ONS)
    .map(({ path }) => path)
    .filter((path) => lstatSync(path).isDirectory() && isReadable(path))
    .filter((path) => !around.some((folder) => isWithin(path, folder)))
    .filter((path) => !RUNNER_MARKS.some((name) => existsSync(join(path, name))));
}

/** /etc/resolv.conf is often a link into /run, which is empty inside. */
export function resolver(): string[] {
  const file = '/etc/resolv.conf';
  if (!existsSync(file)) return [];
  const real = realpathSync(file);
  return real === file ? [] : ['--ro-bind', real, real];
}

let owners: { path: string; folder: boolean }[] | undefined;

/** What others on the machine may not read, but we could: keys, password hashes. Read once; it is the machine's, not the run's. */
function ownersFiles(root: string): { path: string; folder: boolean }[] {
  owners ??= closedBelow(root, 4);
  return owners;
}

function closedBelow(folder: string, depth: number): { path: string; folder: boolean }[] {
  return list(folder).flatMap(({ path, mode, kind }) => {
    if (kind === 'other') return [];
    const open = kind === 'folder' ? (mode & 0o005) === 0o005 : (mode & 0o004) !== 0;
    if (!open) return isReadable(path) ? [{ path, folder: kind === 'folder' }] : [];
    return kind === 'folder' && depth > 1 ? closedBelow(path, depth - 1) : [];
  });
}

function list(folder: string): { path: string; mode: number; kind: 'folder' | 'file' | 'other' }[] {
  try {
    return readdirSync(folder).map((name) => {
      const path = join(folder, name);
      const stats = lstatSync(path);
      const kind = stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : 'other';
      return { path, mode: stats.mode, kind };
    });
  } catch {
    // ENOENT, EACCES: nothing there for us, so nothing for tools.
    return [];
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    // EACCES: tools have our rights and no more.
    return false;
  }
}
