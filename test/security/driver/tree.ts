import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';

const LARGEST = 10_000_000;

/** Everything in a folder, links not followed: path -> what it is and holds. */
export function treeOf(root: string, at = root): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of namesIn(at)) {
    const path = join(at, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) continue; // a case that swaps folders may take it away
    const key = relative(root, path);
    if (stats.isDirectory()) Object.assign(found, { [key]: 'folder' }, treeOf(root, path));
    else if (stats.isSymbolicLink()) found[key] = `link to ${readlinkSync(path)}`;
    else if (stats.isFile() && stats.size <= LARGEST) found[key] = `${stats.mode} ${digest(path)}`;
    else found[key] = `${stats.mode} ${stats.size}`;
  }
  return found;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the same
  }
}

function digest(path: string): string {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'gone';
}

/** Paths that came, went or changed. */
export function changesBetween(before: Record<string, string>, after: Record<string, string>): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((path) => before[path] !== after[path]);
}
