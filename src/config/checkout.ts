// Which files belong to the checkout that a run works in.

import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';

/** Tells whether an absolute path lies in the working tree around `workspace` (in `workspace`, without a repository), by its name or behind links. */
export function checkoutOf(workspace: string): (path: string) => boolean {
  const tops = [workspace, realpathSync(workspace)].map((folder) => repositoryOf(folder) ?? folder);
  return (path) =>
    [path, join(realPath(dirname(path)), basename(path)), realPath(path)].some((place) =>
      tops.some((top) => isAt(top, place)),
    );
}

/** The nearest folder upwards that has a `.git`; git itself is not asked, since the answer must not depend on its configuration. */
export function repositoryOf(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  return dirname(folder) === folder ? undefined : repositoryOf(dirname(folder));
}

/** The path with the part of it that exists made real. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(realPath(parent), basename(path));
}

function isAt(top: string, path: string): boolean {
  const way = relative(top, path);
  return way === '' || !(way === '..' || way.startsWith('../') || isAbsolute(way));
}
