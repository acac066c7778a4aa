import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** A mount point that is missing. bwrap makes it, unless it is a source as well and so has to be there `before`. */
export interface Made {
  path: string;
  kind: 'file' | 'folder';
  before?: true;
}

/** A link that stands where a protected path would be: nothing can be mounted on it, so it is put back afterwards. */
export interface KeptLink {
  path: string;
  target: string;
}

/** Of ours, shown where nothing is: writing there is an error, unlike with the null device. */
export interface Empty {
  file: string;
  folder: string;
}

/** Mounts inside the workspace, in the order they are made. */
export interface Layer {
  empty: Empty;
  args: string[];
  made: Made[];
  links: KeptLink[];
  /** Mount points that can be written to, and such as cannot. */
  pinned: Set<string>;
  closed: Set<string>;
}

export function createLayer(empty: Empty): Layer {
  return { empty, args: [], made: [], links: [], pinned: new Set(), closed: new Set() };
}

/** Makes a path read-only; where nothing is, something empty stands in the way. */
export function close(layer: Layer, root: string, path: string, kind: Made['kind']): void {
  if (layer.closed.has(path) || !reach(layer, root, path)) return;
  const found = kindOf(path);
  if (found === 'link') return keepLink(layer, root, path);
  if (found === 'absent') layer.made.push({ path, kind });
  layer.closed.add(path);
  layer.args.push('--ro-bind', found === 'absent' ? layer.empty[kind] : path, path);
}

/** Shows the content of another file at a path; false where a link makes that impossible. */
export function cover(layer: Layer, root: string, path: string, content: string): boolean {
  if (!reach(layer, root, path)) return false;
  const found = kindOf(path);
  if (found === 'link') return false;
  if (found === 'absent') layer.made.push({ path, kind: 'file' });
  layer.closed.add(path);
  layer.args.push('--ro-bind', content, path);
  return true;
}

/** Hides what a folder holds. */
export function hide(layer: Layer, root: string, path: string): void {
  if (!reach(layer, root, path) || kindOf(path) === 'link') return;
  layer.closed.add(path);
  layer.args.push('--ro-bind', layer.empty.folder, path);
}

/** A folder that stays writable but cannot be renamed: a mount point is busy. Renaming a parent would carry the mounts away. */
export function pin(layer: Layer, root: string, folder: string): boolean {
  if (layer.pinned.has(folder)) return true;
  const found = kindOf(folder);
  if (found === 'link') {
    keepLink(layer, root, folder);
    return false;
  }
  if (found === 'other') {
    layer.args.push('--ro-bind', folder, folder);
    return false;
  }
  if (found === 'absent') layer.made.push({ path: folder, kind: 'folder', before: true });
  layer.args.push('--bind', folder, folder);
  layer.pinned.add(folder);
  return true;
}

/** Pins what lies between; false when a link or a file stands in the way, which then stays as it is. */
function reach(layer: Layer, root: string, path: string): boolean {
  const parents = relative(root, path).split(sep).slice(0, -1);
  let at = root;
  for (const name of parents) {
    at = join(at, name);
    // Below a read-only mount nothing can be moved.
    if (layer.closed.has(at)) return true;
    if (!pin(layer, root, at)) return false;
  }
  return true;
}

function keepLink(layer: Layer, root: string, path: string): void {
  if (layer.links.some((link) => link.path === path)) return;
  layer.links.push({ path, target: readlinkSync(path) });
  const real = realFile(path);
  if (real === undefined || !real.startsWith(`${root}${sep}`) || layer.closed.has(real)) return;
  if (!reach(layer, root, real)) return;
  layer.closed.add(real);
  layer.args.push('--ro-bind', real, real);
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

/** What stands at a path, links not followed; its parent must be a folder or missing. */
export function kindOf(path: string): 'absent' | 'link' | 'folder' | 'other' {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return 'absent';
  if (stats.isSymbolicLink()) return 'link';
  return stats.isDirectory() ? 'folder' : 'other';
}
