import { isAbsolute, relative, sep } from 'node:path';

/** What the file tools may touch. All paths are real and absolute. */
export interface Guards {
  root: string;
  /** Neither read nor written nor listed: the run folder. */
  hidden: readonly string[];
  /** Never written: the task file. */
  read_only: readonly string[];
}

const SYSTEM_FOLDERS = ['/proc', '/dev', '/sys'];
const GIT_NAME = /^(?:\.git|git~\d+)[. ]*$/;
// HFS+ drops such code points when it compares names, so `.g\u200cit` opens `.git` there.
const IGNORED_CODE_POINTS = /\p{Default_Ignorable_Code_Point}/gu;

/** True when `path` is `folder` or lies below it; whole components are compared, never prefixes of names. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`));
}

/** The components of `path` below `root`. */
export function componentsBelow(root: string, path: string): string[] {
  return relative(root, path)
    .split(sep)
    .filter((name) => name !== '');
}

/** True for a name that some file system takes for `.git`: other case or normal form, NTFS short names and streams. */
export function isGitName(name: string): boolean {
  return name
    .normalize('NFKC')
    .replaceAll(IGNORED_CODE_POINTS, '')
    .toLowerCase()
    .split('\\')
    .some((part) => GIT_NAME.test(part.split(':', 1)[0] ?? ''));
}

/** Why a real path is out of bounds, or undefined; the file itself is not looked at. */
export function guardIssue(guards: Guards, real: string, access: 'read' | 'write' | 'list'): string | undefined {
  if (!isInside(guards.root, real)) return 'it lies outside the workspace';
  if (SYSTEM_FOLDERS.some((folder) => isInside(folder, real))) return 'system folders are not part of a workspace';
  if (componentsBelow(guards.root, real).some(isGitName)) {
    return 'the inside of .git is closed to file tools; use the git tool where the task allows it';
  }
  if (guards.hidden.some((path) => isInside(path, real))) return "it belongs to the run's own record";
  if (access === 'write' && guards.read_only.some((path) => isInside(path, real))) {
    return 'it is the task of this run, which no tool changes';
  }
  return undefined;
}
