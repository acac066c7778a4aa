// What lies in a folder, on the disk; a commit lists by itself.

import { readdir } from 'node:fs/promises';

export interface FolderEntry {
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
}

export type ListResult = { ok: true; entries: FolderEntry[] } | { ok: false; reason: string };

/** Lists one folder by absolute path, sorted by name: of the disk, or of a commit. */
export type ListFolder = (path: string) => Promise<ListResult>;

/** The reason of a failure ends a sentence like "cannot list X: ". */
export const listDisk: ListFolder = async (path) => {
  try {
    const found = await readdir(path, { withFileTypes: true });
    const entries = found.map((entry): FolderEntry => {
      if (entry.isSymbolicLink()) return { name: entry.name, kind: 'link' };
      return { name: entry.name, kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other' };
    });
    return { ok: true, entries: sortEntries(entries) };
  } catch (error) {
    // The file system says why: missing, no folder, no permission.
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return { ok: false, reason: REASONS[code] ?? code };
  }
};

const REASONS: Record<string, string> = {
  ENOENT: 'no such folder',
  ENOTDIR: 'it is no folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

/** By code unit, so that every machine has the same order. */
export function sortEntries(entries: readonly FolderEntry[]): FolderEntry[] {
  return [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));
}
