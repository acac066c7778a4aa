import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';

const LARGEST = 10_000_000;

/** Everything in a folder, links not followed: path -> what it is and holds. */
export function treeOf(root: string, at = root): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(at)) {
    const path = join(at, name);
    const stats = lstatSync(path);
    const key = relative(root, path);
    if (stats.isDirectory()) Object.assign(found, { [key]: 'folder' }, treeOf(root, path));
    else if (stats.isSymbolicLink()) found[key] = `link to ${readlinkSync(path)}`;
    else if (stats.isFile() && stats.size <= LARGEST) found[key] = `${stats.mode} ${digest(path)}`;
    else found[key] = `${stats.mode} ${stats.size}`;
  }
  return found;
}

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Paths that came, went or changed. */
export function changesBetween(before: Record<string, string>, after: Record<string, string>): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((path) => before[path] !== after[path]);
}
