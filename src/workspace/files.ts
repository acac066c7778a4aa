import { UsageError } from '../core/errors.ts';
import type { Files } from '../core/ports.ts';
import { readContent, writeContent } from './file-content.ts';
import { listFiles } from './file-list.ts';
import { realTarget, resolvePath } from './file-resolve.ts';
import type { Guards } from './path-guard.ts';

export interface FilesOptions {
  /** Absolute paths that no tool reads, writes or lists, existing or not: the run folder. */
  hidden?: readonly string[];
  /** Absolute paths that no tool writes: the task file. */
  read_only?: readonly string[];
}

/** The workspace's files as tools see them; `root` is an existing folder, else a UsageError is thrown. */
export async function createFiles(root: string, options: FilesOptions = {}): Promise<Files> {
  const guards: Guards = {
    root: await realRoot(root),
    hidden: await Promise.all((options.hidden ?? []).map(realOf)),
    read_only: await Promise.all((options.read_only ?? []).map(realOf)),
  };
  return {
    root: guards.root,
    resolve: (path, access) => resolvePath(guards, path, access),
    read: (real, max_bytes) => readContent(guards, real, max_bytes),
    write: (real, bytes) => writeContent(guards, real, bytes),
    list: (real, list) => listFiles(guards, real, list),
  };
}

async function realRoot(root: string): Promise<string> {
  const target = await realTarget(root);
  if (target.ok && target.stats?.isDirectory()) return target.real;
  const reason = target.ok ? 'it is no folder' : target.reason;
  throw new UsageError(`workspace ${root}: ${reason}; name an existing folder with --workspace`);
}

/** The real path, as far as it exists; a path that cannot be followed protects what was written. */
async function realOf(path: string): Promise<string> {
  const target = await realTarget(path);
  return target.ok ? target.real : path;
}
