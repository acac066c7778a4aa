import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, realpath, rename, rm } from 'node:fs/promises';
import { kindName } from './file-resolve.ts';
import { type FolderHandle, openFolder } from './folder-handle.ts';
import { componentsBelow, guardIssue, type Guards } from './path-guard.ts';
import { systemCode, systemReason } from './system-error.ts';

// Without O_NONBLOCK the open of a named pipe waits for a writer for ever.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const MODE_BITS = 0o7777;

type ReadResult = { ok: true; bytes: Uint8Array; size: number } | { ok: false; reason: string };
type WriteResult = { ok: true; created: boolean } | { ok: false; reason: string };

/** The first `max_bytes` of a resolved regular file, and its whole size in bytes; what was opened is checked again. */
export async function readContent(guards: Guards, real: string, max_bytes: number): Promise<ReadResult> {
  const issue = guardIssue(guards, real, 'read');
  if (issue) return { ok: false, reason: issue };
  return inParent(guards, real, false, async (folder, name) => {
    const file = await open(folder.entry(name), READ);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return { ok: false, reason: `it is ${kindName(stats)}, not a regular file` };
      if (!(await isStill(real, stats))) return { ok: false, reason: 'it changed while it was opened' };
      const bytes = await readUpTo(file, max_bytes, stats.size);
      return { ok: true, bytes, size: Math.max(stats.size, bytes.length) };
    } finally {
      await file.close();
    }
  });
}

/** Replaces a resolved file in one step, so that a reader or a crash sees the old bytes or the new ones. */
export async function writeContent(guards: Guards, real: string, bytes: Uint8Array): Promise<WriteResult> {
  const issue = guardIssue(guards, real, 'write');
  if (issue) return { ok: false, reason: issue };
  return inParent(guards, real, true, async (folder, name) => {
    const old = await lstat(folder.entry(name)).catch((error: unknown) => {
      if (systemCode(error) !== 'ENOENT') throw error;
    });
    if (old && !old.isFile()) return { ok: false, reason: `it is ${kindName(old)}, not a regular file` };
    await replace(folder, name, bytes, old ?? undefined);
    return { ok: true, created: !old };
  });
}

type InParent<T> = (folder: FolderHandle, name: string) => Promise<T>;

async function inParent<T>(guards: Guards, real: string, create: boolean, act: InParent<T>) {
  const components = componentsBelow(guards.root, real);
  const name = components.pop();
  if (name === undefined) return { ok: false as const, reason: 'it is a folder, not a regular file' };
  let folder: FolderHandle | undefined;
  try {
    folder = await openFolder(guards.root, components, create);
    return await act(folder, name);
  } catch (error) {
    return { ok: false as const, reason: systemReason(error) };
  } finally {
    await folder?.close();
  }
}

async function replace(folder: FolderHandle, name: string, bytes: Uint8Array, old: Stats | undefined): Promise<void> {
  const temporary = folder.entry(`.agent-run-${randomBytes(8).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, CREATE, 0o666);
    try {
      await file.writeFile(bytes);
      if (old) await copyOwnership(file, old);
    } finally {
      await file.close();
    }
    await rename(temporary, folder.entry(name));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function copyOwnership(file: FileHandle, old: Stats): Promise<void> {
  const own = await file.stat();
  if (own.uid !== old.uid || own.gid !== old.gid) {
    await file.chown(old.uid, old.gid).catch((error: unknown) => {
      if (systemCode(error) !== 'EPERM') throw error; // only root can give a file away
    });
  }
  await file.chmod(old.mode & MODE_BITS);
}

async function readUpTo(file: FileHandle, max_bytes: number, size: number): Promise<Uint8Array> {
  // One byte more than the size shows a file that grew; endless growth stops at `max_bytes`.
  let buffer = Buffer.alloc(Math.min(max_bytes, size + 1));
  let length = 0;
  for (;;) {
    if (length === buffer.length) {
      if (length >= max_bytes) return buffer;
      buffer = Buffer.concat([buffer], Math.min(max_bytes, Math.max(length * 2, 4096)));
    }
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
}

/** False when the path no longer leads to what was opened; needed where folders are not held open (not Linux). */
async function isStill(real: string, opened: Stats): Promise<boolean> {
  if ((await realpath(real)) !== real) return false;
  const now = await lstat(real);
  return now.dev === opened.dev && now.ino === opened.ino;
}
