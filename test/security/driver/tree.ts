import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';

const LARGEST = 10_000_000;

/** Everything in a folder, links not followed: path -> what it is and holds. */
export function treeOf(root: string, at = root): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of namesIn(at)) {
    const path = join(at, name);
    const what = kindOf(path);
    if (what === undefined) continue;
    found[relative(root, path)] = what;
    if (what === FOLDER) Object.assign(found, treeOf(root, path));
  }
  return found;
}

const FOLDER = 'folder';

function kindOf(path: string): string | undefined {
  try {
    const stats = lstatSync(path);
    if (stats.isDirectory()) return FOLDER;
    if (stats.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
    return stats.isFile() && stats.size <= LARGEST ? `${stats.mode} ${digest(path)}` : `${stats.mode} ${stats.size}`;
  } catch {
    return undefined; // a case that swaps folders took it away
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the same
  }
}

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Paths that came, went or changed. */
export function changesBetween(before: Record<string, string>, after: Record<string, string>): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((path) => before[path] !== after[path]);
}
