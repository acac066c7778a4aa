import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isSystem, isWithin } from './system-mounts.ts';

const PROGRAM_FOLDERS = new Set(['bin', 'sbin', 'shims']);
/** What programs need beside their own folder; anything else there may be a secret (`~/.cargo/credentials.toml`). */
const NEEDED =
  'lib lib32 lib64 libexec include versions installs plugins toolchains pyenv.d rbenv.d nodenv.d version'.split(' ');
/** Folders with much else in them, of which only libraries are taken. */
const SHARED_PREFIX = new Set(['.local', '.config', '.cache']);
/** Where a manager of versions keeps them, when that is not beside its programs. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  '.cargo': ['../.rustup/toolchains', '../.rustup/settings.toml'],
};
const MOST_LINKS = 500;

/** Paths to show read-only so that the programs of PATH outside the system's folders work; never a home or a whole prefix. */
export function toolFolders(path: string, home: string): string[] {
  const found = new Set<string>();
  for (const folder of path.split(':')) {
    if (!folder.startsWith('/') || !isFolder(folder)) continue;
    found.add(folder);
    for (const item of neededBy(realpathSync(folder), home)) found.add(item);
    for (const item of linkedFrom(folder, home)) found.add(item);
  }
  const outside = [...found].filter((item) => !isSystem(item) && !isWithin(item, home) && item !== '/');
  // What lies below another one comes with it.
  return outside.filter((item) => !outside.some((other) => other !== item && isWithin(other, item))).sort();
}

/** A folder of programs and what stands beside it. */
function neededBy(folder: string, home: string): string[] {
  const prefix = dirname(folder);
  if (!PROGRAM_FOLDERS.has(basename(folder)) || isSystem(folder) || isWithin(prefix, home)) return [folder];
  const names = SHARED_PREFIX.has(basename(prefix)) ? ['lib'] : [...NEEDED, ...PROGRAM_FOLDERS];
  const beside = [...names, ...(ELSEWHERE[basename(prefix)] ?? [])].map((name) => join(prefix, name));
  return [folder, ...beside.filter((item) => existsSync(item))];
}

/** Programs that are links to another place, as pipx, npm and mise install them. */
function linkedFrom(folder: string, home: string): string[] {
  if (isSystem(realpathSync(folder))) return [];
  const links = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  return links.slice(0, MOST_LINKS).flatMap(({ name }) => {
    const target = realFile(join(folder, name));
    if (target === undefined || isSystem(target)) return [];
    const place = dirname(target);
    return PROGRAM_FOLDERS.has(basename(place)) ? [...neededBy(place, home), ...venvMark(place)] : [target];
  });
}

/** Python finds the libraries of a virtual environment by this file. */
function venvMark(folder: string): string[] {
  return [join(dirname(folder), 'pyvenv.cfg')].filter((file) => existsSync(file));
}

function realFile(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return lstatSync(real).isFile() ? real : undefined;
  } catch {
    // ENOENT, ELOOP: it leads nowhere.
    return undefined;
  }
}

function isFolder(path: string): boolean {
  try {
    return lstatSync(realpathSync(path)).isDirectory();
  } catch {
    // ENOENT, EACCES: of no use to a tool either.
    return false;
  }
}
