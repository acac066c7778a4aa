import { lstat, opendir, realpath } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { errorText } from '../core/errors.ts';
import { reportBeside } from './batch-record.ts';
import { RESULT_FILE, TRANSCRIPT_FILE } from './run-record.ts';

const MAX_DEPTH = 8;
const MAX_ENTRIES = 200_000;
/** What a batch calls its report; a shard adds its number. */
const BATCH_FILE = /^report(?:-\d+-of-\d+)?\.json$/;

export interface Found {
  /** Paths of run folders, sorted within each argument. */
  folders: string[];
  /** Paths of reports that a batch left beside its runs. */
  batches: string[];
  /** Paths of records that a batch left without a report. */
  records: string[];
  problems: string[];
}

/**
 * The run folders at and below the folders given. What is in a run folder is not searched, and no link is followed: one
 * that may lead to runs beyond what is searched is a problem.
 */
export async function findRuns(roots: readonly string[]): Promise<Found> {
  const found: Found = { folders: [], batches: [], records: [], problems: [] };
  const searched = await Promise.all(roots.map((root) => realpath(root).catch(() => root)));
  const room = { entries: MAX_ENTRIES };
  for (const root of roots) {
    const before = countOf(found);
    await search({ path: root, depth: 0, room, searched }, found);
    if (countOf(found) === before) found.problems.push(`${root} holds no run folder`);
  }
  return found;
}

function countOf({ folders, batches, records, problems }: Found): number {
  return folders.length + batches.length + records.length + problems.length;
}

interface Place {
  path: string;
  depth: number;
  room: { entries: number };
  /** Real paths of all that is searched. */
  searched: readonly string[];
}

async function search({ path, depth, room, searched }: Place, found: Found): Promise<void> {
  const entries = await list(path, room, found);
  if (entries === null) return;
  if (entries.some(({ name }) => name === RESULT_FILE || name === TRANSCRIPT_FILE)) {
    found.folders.push(path);
    return;
  }
  const files = entries.filter(({ is_file }) => is_file).map(({ name }) => name);
  const at = (name: string): string => join(path, name);
  found.batches.push(...files.filter((name) => BATCH_FILE.test(name)).map(at));
  const unended = files.filter((name) => !files.includes(reportBeside(name) ?? name));
  found.records.push(...unended.map(at));
  for (const { name, is_link } of entries) if (is_link) await judgeLink(at(name), searched, found);
  const folders = entries.filter(({ is_folder }) => is_folder).map(({ name }) => name);
  if (folders.length > 0 && depth >= MAX_DEPTH) {
    found.problems.push(`${path} is nested more than ${MAX_DEPTH} folders deep; what is below it is left out`);
    return;
  }
  for (const name of folders) await search({ path: join(path, name), depth: depth + 1, room, searched }, found);
}

/** Says of a link that runs may lie behind it; not of one to a mere file, nor of one into what is searched anyway. */
async function judgeLink(path: string, searched: readonly string[], found: Found): Promise<void> {
  const said = `${path} is a symbolic link, which is not followed`;
  try {
    const target = await realpath(path);
    const name = basename(path);
    const counts = (await lstat(target)).isDirectory() || BATCH_FILE.test(name) || reportBeside(name) !== undefined;
    const known = searched.some((root) => target === root || target.startsWith(`${root.replace(/\/$/, '')}${sep}`));
    if (counts && !known) found.problems.push(`${said}; give what it leads to, ${target}`);
  } catch {
    // ENOENT, ELOOP, EACCES: what stood there may have been a run.
    found.problems.push(`${said}, and leads to nothing that can be read`);
  }
}

interface Entry {
  name: string;
  is_folder: boolean;
  is_file: boolean;
  is_link: boolean;
}

async function list(path: string, room: { entries: number }, found: Found): Promise<Entry[] | null> {
  const entries: Entry[] = [];
  try {
    for await (const entry of await opendir(path)) {
      room.entries -= 1;
      if (room.entries < 0) return tooMany(path, room, found);
      entries.push({
        name: entry.name,
        is_folder: entry.isDirectory(),
        is_file: entry.isFile(),
        is_link: entry.isSymbolicLink(),
      });
    }
  } catch (error) {
    // ENOENT, ENOTDIR, EACCES: one folder that cannot be listed must not cost the others.
    found.problems.push(`${path} cannot be searched: ${errorText(error)}`);
    return null;
  }
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}

function tooMany(path: string, room: { entries: number }, found: Found): null {
  const problem = `more than ${MAX_ENTRIES} files and folders were found; what is left of ${path} is left out`;
  if (room.entries === -1) found.problems.push(problem); // said once
  return null;
}
