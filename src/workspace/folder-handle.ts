import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from './system-error.ts';

/** A folder that stays the same one even when somebody swaps its path for a link. */
export interface FolderHandle {
  /** A path to an entry of exactly this folder. */
  entry(name: string): string;
  close(): Promise<void>;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
// Node has no openat(2); below /proc/self/fd the kernel resolves a name against the open descriptor.
const DESCRIPTORS = '/proc/self/fd';
const HAS_DESCRIPTORS = process.platform === 'linux' && existsSync(DESCRIPTORS);

/** Opens `root` and then one component after the other, following no link; missing folders are made with `create`. */
export async function openFolder(root: string, components: readonly string[], create: boolean): Promise<FolderHandle> {
  if (!HAS_DESCRIPTORS) return openByPath(join(root, ...components), create);
  let handle = await open(root, FOLDER);
  for (const name of components) {
    const parent = handle;
    try {
      handle = await openChild(entryOf(parent, name), create);
    } finally {
      await parent.close();
    }
  }
  const folder = handle;
  return { entry: (name) => entryOf(folder, name), close: () => folder.close() };
}

function entryOf(handle: FileHandle, name: string): string {
  return `${DESCRIPTORS}/${handle.fd}/${name}`;
}

async function openChild(path: string, create: boolean): Promise<FileHandle> {
  try {
    return await open(path, FOLDER);
  } catch (error) {
    if (!create || systemCode(error) !== 'ENOENT') throw error;
  }
  await mkdir(path).catch((error: unknown) => {
    if (systemCode(error) !== 'EEXIST') throw error; // a parallel call made it
  });
  return open(path, FOLDER);
}

async function openByPath(path: string, create: boolean): Promise<FolderHandle> {
  if (create) await mkdir(path, { recursive: true });
  if ((await realpath(path)) !== path) throw Object.assign(new Error('became a link'), { code: 'ELOOP' });
  return { entry: (name) => join(path, name), close: async () => {} };
}
