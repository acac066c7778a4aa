import { type Dirent, type Stats } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { callbackify } from 'node:util';
import type { FileSystemAdapter } from 'tinyglobby';
import type { FileList } from '../core/ports.ts';
import { shownText } from './bytes-text.ts';
import { literalGroups, patternIssue } from './glob-check.ts';
import { type IgnoreRules, NO_RULES, readRules, slashed } from './ignore-rules.ts';
import { componentsBelow, guardIssue, type Guards, isGitName } from './path-guard.ts';
import { systemCode } from './system-error.ts';

export interface ListOptions {
  patterns?: readonly string[];
  limit: number;
  signal?: AbortSignal;
}

/** What tinyglobby asks of a directory entry. */
interface Entry {
  name: string;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

type Readdir = NonNullable<FileSystemAdapter['readdir']>;

const MOST_ENTRIES = 500_000;
const DEEPEST = 100;

/** Regular files below the real folder `start` that match patterns relative to it; see `Files.list`. */
export async function listFiles(guards: Guards, start: string, options: ListOptions): Promise<FileList> {
  const issue = guardIssue(guards, start, 'list') ?? patternIssue(options.patterns ?? []);
  if (issue) return { files: [], more: false, reason: issue };
  const stats = await statsOf(start);
  if (!stats) return { files: [], more: false, reason: 'there is no such folder' };
  if (stats.isFile()) return { files: [slashed(relative(guards.root, start))], more: false };
  const walk = new Walk(guards, start);
  const { glob } = await import('tinyglobby');
  const found = await glob(patternsFor(options.patterns), {
    cwd: start,
    fs: { readdir: walk.readdir },
    dot: true,
    expandDirectories: false,
    extglob: false,
    followSymbolicLinks: false,
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const prefix = slashed(relative(guards.root, start));
  const files = found.map((path) => (prefix ? `${prefix}/${path}` : path)).sort();
  const more = walk.incomplete || files.length > options.limit || options.signal?.aborted === true;
  return { files: files.slice(0, options.limit), more };
}

function patternsFor(patterns: readonly string[] = ['**']): string[] {
  const all = patterns.flatMap((pattern) => {
    const literal = literalGroups(pattern);
    // Brackets also stand for themselves: a folder may be called `[id]`.
    return literal.includes('[') ? [literal, literal.replaceAll(/(?<!\\)[[\]]/g, '\\$&')] : [literal];
  });
  return all.every((pattern) => pattern.startsWith('!')) ? ['**', ...all] : all;
}

async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined; // gone or closed since it was resolved
  }
}

/** Reads folders for the glob walker, leaving out what is closed or ignored. */
class Walk {
  /** Something was left out that is neither ignored nor closed. */
  incomplete = false;
  private entries = 0;
  private readonly rules = new Map<string, Promise<IgnoreRules>>();
  private readonly guards: Guards;
  private readonly start: string;

  constructor(guards: Guards, start: string) {
    this.guards = guards;
    this.start = start;
  }

  // The walker calls `readdir(path, { withFileTypes: true }, callback)` and reads four members of each entry.
  readonly readdir = callbackify((path: string, _options: unknown) =>
    this.read(path.replace(/(?<=.)\/+$/, '')),
  ) as unknown as Readdir;

  private async read(folder: string): Promise<Entry[]> {
    if (!(await this.isOpen(folder))) return [];
    const rules = await this.rulesIn(folder);
    const found = await this.entriesOf(folder);
    this.entries += found.length;
    const tooMany = this.entries > MOST_ENTRIES || componentsBelow(this.guards.root, folder).length > DEEPEST;
    if (tooMany) this.incomplete = true;
    if (tooMany) return [];
    const kept = await Promise.all(found.map((entry) => this.entry(folder, entry, rules)));
    return kept.filter((entry) => entry !== undefined);
  }

  private async entriesOf(folder: string): Promise<Dirent<Buffer>[]> {
    try {
      return await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      this.incomplete = true;
      return [];
    }
  }

  /** A pattern's fixed beginning makes the walker start deeper, past checks on the way and possibly through a link. */
  private async isOpen(folder: string): Promise<boolean> {
    if (folder === this.start || this.rules.has(folder)) return true;
    const stats = await statsOf(folder);
    if (!stats?.isDirectory() || (await realpath(folder)) !== folder) return false;
    if (guardIssue(this.guards, folder, 'list')) return false;
    const parent = await this.rulesIn(join(folder, '..'));
    return !parent.ignores(`${this.relative(folder)}/`);
  }

  private async rulesIn(folder: string): Promise<IgnoreRules> {
    const known = this.rules.get(folder);
    if (known) return known;
    const rules = this.loadRules(folder);
    this.rules.set(folder, rules);
    return rules;
  }

  private async loadRules(folder: string): Promise<IgnoreRules> {
    if (folder === this.guards.root) return readRules(this.guards, '', NO_RULES);
    const parent = await this.rulesIn(join(folder, '..'));
    const path = this.relative(folder);
    // Who asks for an ignored folder by name means it: only the rules below it count then.
    const above = folder === this.start && parent.ignores(`${path}/`) ? NO_RULES : parent;
    const own = await statsOf(join(folder, '.gitignore'));
    return own?.isFile() ? readRules(this.guards, path, above) : above;
  }

  private async entry(folder: string, found: Dirent<Buffer>, rules: IgnoreRules): Promise<Entry | undefined> {
    const { text: name, exact } = shownText(found.name);
    const path = join(folder, name);
    const isFolder = found.isDirectory() && exact;
    if (isGitName(name) || this.guards.hidden.includes(path)) return undefined;
    if (rules.ignores(`${this.relative(path)}${isFolder ? '/' : ''}`)) return undefined;
    const isFile = found.isFile() || (found.isSymbolicLink() && (await this.leadsToFile(path)));
    if (!isFile && !isFolder) return undefined;
    return { name, isFile: () => isFile, isDirectory: () => isFolder, isSymbolicLink: () => false };
  }

  private async leadsToFile(link: string): Promise<boolean> {
    try {
      const real = await realpath(link);
      return guardIssue(this.guards, real, 'read') === undefined && (await lstat(real)).isFile();
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return false; // dangling or circular
    }
  }

  private relative(path: string): string {
    return slashed(relative(this.guards.root, path));
  }
}
