import { relative, resolve, sep } from 'node:path';
import type { PathRules } from '../core/config.ts';
import { compileGlobs, type GlobMatch, type GlobSet, isLiteral, trimGlob } from '../core/globs.ts';
import type { Files, ResolvedPath } from '../core/ports.ts';
import { type GuardPath, isGitPath, isProtectedName, leaves } from './protected.ts';

export type FileVerdict = { ok: true; pattern: string } | { ok: false; reason: string; pattern?: string };

/** The rule of one file tool, compiled. */
export interface PathRule {
  tool: string;
  access: 'read' | 'write';
  /** As written in the task; absent: the whole workspace. */
  patterns: readonly string[] | undefined;
  globs: GlobSet;
}

const EVERYTHING = ['**'];

/** Compiles the globs of a file tool; they must have passed `findPathMistake`. */
export function compilePathRule(tool: string, access: 'read' | 'write', rules: PathRules): PathRule {
  return { tool, access, patterns: rules.paths, globs: compileGlobs(rules.paths ?? EVERYTHING) };
}

/** Why a list of globs can never do what its author wants, or undefined. */
export function findPathMistake(patterns: readonly string[], access: 'read' | 'write'): string | undefined {
  const includes = patterns.filter((pattern) => !pattern.startsWith('!'));
  const excludes = new Set(patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1)));
  if (includes.length === 0) return 'admits nothing; name at least one path without "!"';
  for (const pattern of patterns) {
    const mistake = patternMistake(pattern.startsWith('!') ? pattern.slice(1) : pattern);
    if (mistake) return `"${pattern}" ${mistake}`;
  }
  for (const pattern of includes) {
    if (excludes.has(pattern) || excludes.has('**')) return `"${pattern}" is excluded again by the same list`;
    const closed = closedPattern(trimGlob(pattern), access);
    if (closed) return `"${pattern}" ${closed}`;
  }
  return undefined;
}

function patternMistake(pattern: string): string | undefined {
  if (pattern === '') return 'is empty';
  if (/\p{Cc}/u.test(pattern)) return 'holds a control character';
  if (pattern.startsWith('/') || /^[A-Za-z]:[\\/]/.test(pattern))
    return 'is absolute; paths are relative to the workspace';
  if (pattern.startsWith('~')) return 'names a home folder; paths are relative to the workspace';
  if (pattern.includes('\\')) return 'holds a backslash; paths are written with "/"';
  if (pattern.split('/').includes('..')) return 'leaves the workspace';
  if (pattern.endsWith('/')) return `names a folder, which no file equals; write "${pattern}**"`;
  if (pattern.length > 1000) return 'is longer than 1000 characters';
  return undefined;
}

function closedPattern(pattern: string, access: 'read' | 'write'): string | undefined {
  if (isGitPath(pattern)) return 'can never match: the git folder is closed to file access';
  if (access === 'read' || isLiteral(pattern)) return undefined;
  return isProtectedName(pattern)
    ? 'can never match: a protected path must be named exactly, without a wildcard'
    : undefined;
}

/** A path as asked for (relative to the workspace, links not followed) and where it really leads. */
export interface Located {
  path: string;
  real: string;
}

/** Resolves a path of a tool call; `path` of the result is the one asked for, so that both can be judged. */
export async function locate(
  files: Files,
  path: string,
  resolveReal: (path: string) => Promise<ResolvedPath>,
): Promise<ResolvedPath> {
  const resolved = await resolveReal(path);
  if (!resolved.ok) return resolved;
  const asked = relative(files.root, resolve(files.root, path));
  return leaves(asked) ? resolved : { ...resolved, path: asked.split(sep).join('/') || '.' };
}

/** Judges a path inside the workspace: the path as asked for and the path it really is must both be granted. */
export function judgeLocated(rule: PathRule, at: Located, files: Files, guard: GuardPath): FileVerdict {
  const real = relative(files.root, at.real).split(sep).join('/');
  const asked = judgePath(rule, at.path, guard);
  if (!asked.ok || real === at.path) return asked;
  const target = judgePath(rule, real, guard);
  return target.ok ? asked : { ...target, reason: `${at.path} leads to ${real}: ${target.reason}` };
}

function judgePath(rule: PathRule, path: string, guard: GuardPath): FileVerdict {
  const guarded = guard(path, rule.access);
  if (guarded.level === 'never') return { ok: false, reason: `${path}: ${guarded.why}` };
  const match = rule.globs(path);
  if (!match?.included)
    return { ok: false, reason: refusal(rule, path, match), ...(match && { pattern: match.pattern }) };
  if (guarded.level === 'exact' && !match.exact) {
    const reason = `${path} is protected (${guarded.why}); only a rule that names exactly this path allows it`;
    return { ok: false, reason, pattern: match.pattern };
  }
  return { ok: true, pattern: match.pattern };
}

function refusal(rule: PathRule, path: string, match: GlobMatch | undefined): string {
  const excluded = match ? ` (excluded by "${match.pattern}")` : '';
  return `${rule.tool} may not ${rule.access} ${path}${excluded}; ${allowedPaths(rule)}`;
}

/** What a rule does allow, for the model and for people. */
export function allowedPaths(rule: PathRule): string {
  if (rule.patterns) return `allowed paths: ${rule.patterns.join(', ')}`;
  return rule.access === 'read' ? 'allowed: the whole workspace' : 'allowed: the workspace but its protected paths';
}

/** Judges a folder that is listed or searched: it is open unless closed to everyone, because what is found in it is filtered. */
export function judgeFolder(at: Located, files: Files, guard: GuardPath): FileVerdict {
  const real = relative(files.root, at.real).split(sep).join('/');
  for (const path of [at.path, real]) {
    const guarded = guard(`${path}/x`, 'read');
    if (guarded.level === 'never') return { ok: false, reason: `${path}: ${guarded.why}` };
  }
  return { ok: true, pattern: '**' };
}

/** Like `resolve` for reading, but a path where nothing stands is no offence: the tool answers that it is missing. */
export async function resolveReadable(files: Files, path: string): Promise<ResolvedPath> {
  const readable = await files.resolve(path, 'read');
  if (readable.ok) return readable;
  const creatable = await files.resolve(path, 'write');
  return creatable.ok ? creatable : readable;
}
