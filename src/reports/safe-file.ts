// Files of run folders that came from elsewhere: no link is followed, nothing but a regular file is opened, sizes are capped.

import { constants } from 'node:fs';
import { lstat, open, type FileHandle } from 'node:fs/promises';
import { errorText } from '../core/errors.ts';
import { showBytes } from '../core/figures.ts';

/** What a path is to us; `missing` stands apart, because a file may be optional. */
export type Opened = { kind: 'file'; file: FileHandle; bytes: number } | { kind: 'missing' } | Refused;
export type Refused = { kind: 'refused'; problem: string };
export type Text = { kind: 'text'; text: string } | { kind: 'missing' } | Refused;

/** Opens a regular file for reading; the caller closes it. */
export async function openRegular(path: string, max_bytes: number): Promise<Opened> {
  try {
    // Looked at before it is opened, since opening a device can act; and again afterwards, since it may have changed.
    const before = await lstat(path);
    if (!before.isFile()) return refuse(path, `is ${nameOf(before)}, not a regular file`);
    const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const found = await judge(file, path, max_bytes);
    if (found.kind !== 'file') await file.close();
    return found;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { kind: 'missing' };
    // EACCES, ELOOP, EIO and their like: one file that cannot be read must not cost the others.
    return refuse(path, `cannot be read: ${errorText(error)}`);
  }
}

async function judge(file: FileHandle, path: string, max_bytes: number): Promise<Opened> {
  const stat = await file.stat();
  if (!stat.isFile()) return refuse(path, `is ${nameOf(stat)}, not a regular file`);
  if (stat.size <= max_bytes) return { kind: 'file', file, bytes: stat.size };
  return refuse(path, `has ${showBytes(stat.size)}; a report reads at most ${showBytes(max_bytes)} of such a file`);
}

/** The whole text of a regular file of at most `max_bytes`. */
export async function readRegular(path: string, max_bytes: number): Promise<Text> {
  const opened = await openRegular(path, max_bytes);
  if (opened.kind !== 'file') return opened;
  try {
    // A file that grows meanwhile is read up to the cap and no further.
    const bytes = Buffer.alloc(opened.bytes);
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await opened.file.read(bytes, length, bytes.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return { kind: 'text', text: bytes.toString('utf8', 0, length) };
  } catch (error) {
    return refuse(path, `cannot be read: ${errorText(error)}`); // EIO
  } finally {
    await opened.file.close();
  }
}

interface Kinds {
  isSymbolicLink(): boolean;
  isDirectory(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
}

/** What a thing that is no regular file is called. */
export function nameOf(stat: Kinds): string {
  if (stat.isSymbolicLink()) return 'a symbolic link';
  if (stat.isDirectory()) return 'a folder';
  if (stat.isFIFO()) return 'a named pipe';
  return stat.isSocket() ? 'a socket' : 'a device';
}

function refuse(path: string, what: string): Refused {
  return { kind: 'refused', problem: `${path} ${what}` };
}
