import { join, sep } from 'node:path';
import { readContent } from './file-content.ts';
import type { Guards } from './path-guard.ts';

/** The .gitignore rules in force in one folder, those of its parents first, all relative to the workspace. */
export interface IgnoreRules {
  lines: readonly string[];
  /** `path` is relative to the workspace, with `/`; a folder ends in `/`. */
  ignores(path: string): boolean;
}

export const NO_RULES: IgnoreRules = { lines: [], ignores: () => false };

const LARGEST_FILE = 256 * 1024;
// A rule becomes a backtracking regular expression, and a pull request may bring rules and names made for each other.
const LONGEST_LINE = 500;
const MOST_STARS = 8;

/** The rules inside `folder` (relative, '' is the workspace): those of its parent and its own .gitignore. */
export async function readRules(guards: Guards, folder: string, parent: IgnoreRules): Promise<IgnoreRules> {
  const file = await readContent(guards, join(guards.root, ...folder.split('/'), '.gitignore'), LARGEST_FILE);
  if (!file.ok) return parent;
  const own = Buffer.from(file.bytes).toString('utf8').split(/\r?\n/);
  const lines = [...parent.lines, ...own.flatMap((line) => scoped(line, folder))];
  const { default: ignore } = await import('ignore');
  const rules = ignore({ ignorecase: false }).add(lines);
  return { lines, ignores: (path) => rules.ignores(path) };
}

/** A line of a nested .gitignore as it would stand in the one of the workspace. */
function scoped(line: string, folder: string): string[] {
  if (line === '' || line.startsWith('#') || line.length > LONGEST_LINE) return [];
  if ((line.match(/\*+/g)?.length ?? 0) > MOST_STARS) return [];
  if (folder === '') return [line];
  const negated = line.startsWith('!');
  const body = negated ? line.slice(1) : line;
  const anchored = body.slice(0, -1).includes('/');
  const prefix = `/${folder.replaceAll(/[*?[\]\\ !#]/g, '\\$&')}`;
  return [`${negated ? '!' : ''}${prefix}${anchored ? '' : '/**'}/${body.replace(/^\//, '')}`];
}

/** A path relative to the workspace in the form of ignore rules. */
export function slashed(path: string): string {
  return path.replaceAll(sep, '/');
}
