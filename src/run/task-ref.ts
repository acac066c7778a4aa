// `--task-ref`: the task and what it names, read from a commit, so that a checkout nobody trusts has no say in them.

import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { decode, MAX_NAMED_BYTES, type ReadFile, type ReadResult } from '../config/source.ts';
import { UsageError } from '../core/errors.ts';
import { toolEnvironment } from '../workspace/environment.ts';
import { openRepository, type Repository } from '../workspace/git-repository.ts';
import { resolveCommit } from '../workspace/git-refs.ts';

/** A commit and the files in it; nothing is checked out and no program of the repository starts. */
export interface CommitReader {
  commit: string;
  read: ReadFile;
}

const TIMEOUT_MS = 60_000;

/** Opens a commit of the repository around `cwd`; throws UsageError when there is no repository or no such commit. */
export async function openCommit(ref: string, { cwd, env }: { cwd: string; env: Env }): Promise<CommitReader> {
  const folder = realpathSync(cwd);
  const toolEnv = toolEnvironment({ source: env, names: [], home: homedir(), workspace: folder });
  const opened = await openRepository({ cwd: folder, env: toolEnv, timeout_ms: TIMEOUT_MS });
  if (!opened.ok) throw new UsageError(`--task-ref: ${opened.reason}`);
  const { repository } = opened;
  const resolved = await resolveCommit(repository, ref);
  if (!resolved.ok) throw new UsageError(`--task-ref: ${resolved.reason}`);
  const top = join(folder, ...repository.prefix.split('/').map((part) => (part === '' ? '.' : '..')));
  return { commit: resolved.id, read: (path) => readBlob(repository, { commit: resolved.id, top, path }) };
}

type Env = Readonly<Record<string, string | undefined>>;

interface Place {
  commit: string;
  /** Real path of the repository's working tree. */
  top: string;
  /** Absolute; need not exist in the checkout. */
  path: string;
}

async function readBlob(repository: Repository, { commit, top, path }: Place): Promise<ReadResult> {
  const name = relative(top, realParent(path)).replaceAll('\\', '/');
  if (name === '' || name.startsWith('../') || name === '..') {
    return { ok: false, reason: `it lies outside the repository at ${top}, so ${commit} cannot hold it` };
  }
  const listed = await repository.run(['ls-tree', '-z', '--long', '--full-tree', commit, '--', name]);
  const [mode, type, id, size] = listed.stdout.toString('utf8').split('\t', 1).join('').split(/ +/);
  if (listed.code !== 0 || id === undefined) return { ok: false, reason: `no such file in ${commit}` };
  if (type !== 'blob' || !mode?.startsWith('100')) return { ok: false, reason: `it is no regular file in ${commit}` };
  if (Number(size) > MAX_NAMED_BYTES) return { ok: false, reason: `it is larger than ${MAX_NAMED_BYTES} bytes` };
  const blob = await repository.run(['cat-file', 'blob', id]);
  return blob.code === 0 ? decode(blob.stdout) : { ok: false, reason: blob.stderr.trim() };
}

/** The path with the part of it that exists made real: the working tree's top is a real path too. */
function realParent(path: string): string {
  const parent = dirname(path);
  if (parent === path) return path;
  return existsSync(parent) ? join(realpathSync(parent), basename(path)) : join(realParent(parent), basename(path));
}
