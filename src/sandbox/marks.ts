import { lstatSync, mkdirSync, readlinkSync, rmSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { PROTECTED_FILES, PROTECTED_FOLDERS } from '../core/protected-names.ts';
import type { KeptLink, Made } from './layer.ts';

/** What calls leave in the workspace: mount points that bwrap made, and links that a tool may have replaced. */
export class Marks {
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

/**
 * Removes what a run that was killed left in its workspace: empty read-only files and empty folders where bwrap had
 * covered a protected path. git makes neither, so nothing of anybody's is lost.
 */
export function removeStaleMarks(workspace: string): void {
  for (const name of ['.git', ...PROTECTED_FILES]) {
    const stats = lstatSync(join(workspace, name), { throwIfNoEntry: false });
    if (stats?.isFile() && stats.size === 0 && (stats.mode & 0o777) === 0o444) rmSync(join(workspace, name));
  }
  for (const name of ['.git', ...PROTECTED_FOLDERS]) {
    removeMark({ path: join(workspace, name), kind: 'folder' });
    if (dirname(name) !== '.') removeMark({ path: join(workspace, dirname(name)), kind: 'folder' });
  }
}

function restoreLink({ path, target }: KeptLink): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink() && readlinkSync(path) === target) return;
  rmSync(path, { recursive: true, force: true });
  symlinkSync(target, path);
}
