// Paths that decide what later steps, people or agents run. A wildcard in a rule never grants them.

import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { PROTECTED_FILES, PROTECTED_FOLDERS } from '../core/protected-names.ts';

/** `exact`: writable only by a rule that names the path itself; `never`: by no rule. */
export type Guard = { level: 'free' } | { level: 'exact' | 'never'; why: string };
export type GuardPath = (path: string, access: 'read' | 'write') => Guard;

const FREE: Guard = { level: 'free' };

/** Protected wherever they stand, because tools look for them in nested folders too. */
const NAMES = [...PROTECTED_FILES, ...PROTECTED_FOLDERS].map((name) => name.toLowerCase().split('/'));

/** Components as the most forgiving file system compares them: no case, no width, no invisible characters, no trailing dots. */
export function foldPath(path: string): string[] {
  const folded = path.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return folded.toLowerCase().split(/[/\\]/).map(foldComponent);
}

function foldComponent(component: string): string {
  if (component === '.' || component === '..') return component;
  return component.replace(/:.*$/s, '').replace(/[. ]+$/, ''); // NTFS: streams, and dots and blanks at the end
}

/** True when a component of the path is the git folder, also by its short name on Windows. */
export function isGitPath(path: string): boolean {
  return foldPath(path).some((component) => component === '.git' || /^git~\d+$/.test(component));
}

/** True for the conventional protected paths but `.git`. */
export function isProtectedName(path: string): boolean {
  const components = foldPath(path);
  return NAMES.some((name) =>
    components.some((_, start) => name.every((component, index) => components[start + index] === component)),
  );
}

/** What a task owns beside the conventional names, and the exclusions that keep a search out of it. */
export interface Guards {
  guard: GuardPath;
  closed: readonly string[];
}

/**
 * Judges paths relative to the workspace. `protectedFiles` are the task's own files and the run folder, absolute or
 * relative to `root`; what lies below one of them is neither read nor written.
 */
export function createGuards(root: string, protectedFiles: readonly string[]): Guards {
  const own = [...new Set(protectedFiles.flatMap((file) => [resolve(root, file), realPath(resolve(root, file))]))];
  const inside = own.map((file) => relative(root, file)).filter((path) => path !== '' && !leaves(path));
  const folded = inside.map((path) => foldPath(path).join('/'));
  return {
    guard: (path, access) => guardPath(path, access, folded),
    closed: inside.map((path) => `!${escapeGlob(path.split(sep).join('/'))}/**`),
  };
}

function escapeGlob(path: string): string {
  return path.replace(/[*?[\]{}()!\\]/g, '\\$&');
}

function guardPath(path: string, access: 'read' | 'write', own: readonly string[]): Guard {
  if (isGitPath(path)) return { level: 'never', why: 'the git folder is closed to file access' };
  const folded = foldPath(path).join('/');
  if (own.some((entry) => folded.startsWith(`${entry}/`))) {
    return { level: 'never', why: 'it belongs to the record of this run' };
  }
  if (access === 'read') return FREE;
  if (own.includes(folded)) return { level: 'exact', why: 'it belongs to this task' };
  if (isProtectedName(path)) return { level: 'exact', why: 'it decides what later steps or agents run' };
  return FREE;
}

/** The real path of a file that need not exist yet: links of its nearest existing parent are followed. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // ENOENT is expected: the run folder may not have been made yet.
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}

/** True when a relative path leads out of the folder it is relative to. */
export function leaves(path: string): boolean {
  return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
}
