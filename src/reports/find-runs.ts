import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../core/errors.ts';
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
  problems: string[];
}

/** The run folders at and below the folders given. Links are not followed and what is in a run folder is not searched. */
export async function findRuns(roots: readonly string[]): Promise<Found> {
  const found: Found = { folders: [], batches: [], problems: [] };
  const room = { entries: MAX_ENTRIES };
  for (const root of roots) {
    const before = found.folders.length + found.batches.length + found.problems.length;
    await search({ path: root, depth: 0, room }, found);
    if (found.folders.length + found.batches.length + found.problems.length === before)
      found.problems.push(`${root} holds no run folder`);
  }
  return found;
}

interface Place {
  path: string;
  depth: number;
  room: { entries: number };
}

async function search({ path, depth, room }: Place, found: Found): Promise<void> {
  const entries = await list(path, room, found);
  if (entries === null) return;
  if (entries.some(({ name }) => name === RESULT_FILE || name === TRANSCRIPT_FILE)) {
    found.folders.push(path);
    return;
  }
  const reports = entries.filter(({ name, is_file }) => is_file && BATCH_FILE.test(name)).map(({ name }) => name);
  found.batches.push(...reports.sort().map((name) => join(path, name)));
  const folders = entries.filter(({ is_folder }) => is_folder).map(({ name }) => name);
  if (folders.length > 0 && depth >= MAX_DEPTH) {
    found.problems.push(`${path} is nested more than ${MAX_DEPTH} folders deep; what is below it is left out`);
    return;
  }
  for (const name of folders.sort()) await search({ path: join(path, name), depth: depth + 1, room }, found);
}

interface Entry {
  name: string;
  is_folder: boolean;
  is_file: boolean;
}

async function list(path: string, room: { entries: number }, found: Found): Promise<Entry[] | null> {
  const entries: Entry[] = [];
  try {
    for await (const entry of await opendir(path)) {
      room.entries -= 1;
      if (room.entries < 0) return tooMany(path, room, found);
      entries.push({ name: entry.name, is_folder: entry.isDirectory(), is_file: entry.isFile() });
    }
  } catch (error) {
    // ENOENT, ENOTDIR, EACCES: one folder that cannot be listed must not cost the others.
    found.problems.push(`${path} cannot be searched: ${errorText(error)}`);
    return null;
  }
  return entries;
}

function tooMany(path: string, room: { entries: number }, found: Found): null {
  const problem = `more than ${MAX_ENTRIES} files and folders were found; what is left of ${path} is left out`;
  if (room.entries === -1) found.problems.push(problem); // said once
  return null;
}
