import type { Stats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Access, ResolvedPath } from '../core/ports.ts';
import { componentsBelow, guardIssue, type Guards, isGitName, isInside } from './path-guard.ts';
import { systemCode, systemReason } from './system-error.ts';

const LONGEST_PATH = 4096;

type Target = { ok: true; real: string; stats: Stats | undefined } | { ok: false; reason: string };

/** Where a path of a tool call really leads, or why no tool may go there; nothing is opened. */
export async function resolvePath(guards: Guards, path: string, access: Access): Promise<ResolvedPath> {
  const refuse = (reason: string): ResolvedPath => ({ ok: false, reason: `${JSON.stringify(path)}: ${reason}` });
  const malformed = textIssue(path, access);
  if (malformed) return refuse(malformed);
  const lexical = resolve(guards.root, path);
  if (isInside(guards.root, lexical) && componentsBelow(guards.root, lexical).some(isGitName)) {
    return refuse(guardIssue(guards, lexical, access) ?? 'the inside of .git is closed to file tools');
  }
  const target = await realTarget(lexical);
  // Errors outside look like any other path outside, so that nobody can ask what exists there.
  if (!target.ok) return refuse(isInside(guards.root, lexical) ? target.reason : 'it lies outside the workspace');
  const issue = guardIssue(guards, target.real, access) ?? kindIssue(target.stats, access);
  if (issue) return refuse(issue);
  return { ok: true, path: relative(guards.root, target.real).replaceAll(sep, '/') || '.', real: target.real };
}

/** The real path of what may not exist yet: links of the nearest existing parent are followed, dangling ones refused. */
export async function realTarget(path: string): Promise<Target> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      const real = await realpath(at);
      const stats = await lstat(real);
      if (missing.length === 0) return { ok: true, real, stats };
      if (!stats.isDirectory()) return { ok: false, reason: systemReason(coded('ENOTDIR')) };
      return { ok: true, real: join(real, ...missing), stats: undefined };
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') return { ok: false, reason: systemReason(error) };
    }
    if (await exists(at)) return { ok: false, reason: 'a link on the way leads to nothing' };
    missing.unshift(basename(at));
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false, // what cannot be looked at is found missing by the caller's next step
  );
}

function coded(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function textIssue(path: string, access: Access): string | undefined {
  if (path === '') return 'an empty path names no file; "." is the workspace';
  if (path.includes('\0')) return 'a path cannot hold a NUL character';
  if (!path.isWellFormed()) return 'a path must be well-formed text';
  if (path.length > LONGEST_PATH) return `a path has at most ${LONGEST_PATH} characters`;
  if (access === 'write' && path.endsWith('/')) return 'a file name cannot end in "/"';
  return undefined;
}

function kindIssue(stats: Stats | undefined, access: Access): string | undefined {
  if (!stats) return access === 'write' ? undefined : 'there is no such file';
  if (stats.isFile() || (stats.isDirectory() && access === 'list')) return undefined;
  return `it is ${kindName(stats)}, not a regular file`;
}

/** The kind of a file system entry in words. */
export function kindName(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a named pipe';
  if (stats.isSocket()) return 'a socket';
  if (stats.isSymbolicLink()) return 'a link';
  return stats.isFile() ? 'a file' : 'a device';
}
