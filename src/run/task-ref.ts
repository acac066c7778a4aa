// `--task-ref`: the task and what it names, read from a commit, so that a checkout nobody trusts has no say in them.

import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, relative, resolve } from 'node:path';
import { type FolderEntry, type ListResult, sortEntries } from '../config/list-folder.ts';
import type { CommitFiles } from '../config/reader.ts';
import { decode, MAX_NAMED_BYTES, type ReadResult } from '../config/source.ts';
import { UsageError } from '../core/errors.ts';
import { toolEnvironment } from '../workspace/environment.ts';
import { networkEnvironment, obtainCommit } from '../workspace/git-fetch.ts';
import { openRepository, type Repository } from '../workspace/git-repository.ts';

const TIMEOUT_MS = 60_000;
/** Names are names, not patterns, and a commit is what its id says. */
const EXACT = { GIT_LITERAL_PATHSPECS: '1', GIT_NO_REPLACE_OBJECTS: '1' };

type Env = Readonly<Record<string, string | undefined>>;

/** Opens a commit of the repository around `cwd`; nothing is checked out and no program of the repository starts. Throws UsageError when there is no repository or no such commit. */
export async function openCommit(ref: string, { cwd, env }: { cwd: string; env: Env }): Promise<CommitFiles> {
  const folder = realpathSync(cwd);
  const toolEnv = toolEnvironment({ source: env, names: [], home: homedir(), workspace: folder });
  const opened = await openRepository({ cwd: folder, env: toolEnv, timeout_ms: TIMEOUT_MS });
  if (!opened.ok) throw new UsageError(`--task-ref: ${opened.reason}`);
  const { repository } = opened;
  const resolved = await obtainCommit(repository, ref, networkEnvironment(env));
  if (!resolved.ok) throw new UsageError(`--task-ref: ${resolved.reason}`);
  const up = repository.prefix.replaceAll(/[^/]+/g, '..');
  const tops = [resolve(cwd, up), resolve(folder, up)];
  return {
    commit: resolved.id,
    read: (path) => readBlob(repository, resolved.id, nameIn(tops, path)),
    list: (path) => listTree(repository, resolved.id, tops.includes(path) ? '' : nameIn(tops, path)),
  };
}

/** The path below the repository's top. Links of the checkout are not followed: whoever wrote it would choose the file. */
function nameIn(tops: readonly string[], path: string): string | undefined {
  const ways = tops.map((top) => relative(top, path).replaceAll('\\', '/'));
  return ways.find((way) => way !== '' && way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}

async function readBlob(repository: Repository, commit: string, name: string | undefined): Promise<ReadResult> {
  if (name === undefined) return { ok: false, reason: `it lies outside the repository, so ${commit} cannot hold it` };
  const listed = await repository.run(['ls-tree', '-z', '--long', '--full-tree', commit, '--', name], { env: EXACT });
  if (listed.code !== 0) return { ok: false, reason: `git cannot read ${commit}: ${listed.stderr}` };
  const [mode = '', , id, size] = listed.stdout.toString('utf8').split('\t', 1).join('').split(/ +/);
  if (id === undefined) return { ok: false, reason: `no such file in ${commit}` };
  const kind = KINDS[mode] ?? 'something else';
  if (kind !== FILE) return { ok: false, reason: `it is ${kind} in ${commit}, expected ${FILE}` };
  if (Number(size) > MAX_NAMED_BYTES) return { ok: false, reason: `it is larger than ${MAX_NAMED_BYTES} bytes` };
  const blob = await repository.run(['cat-file', 'blob', id], { env: EXACT });
  return blob.code === 0 ? decode(blob.stdout) : { ok: false, reason: blob.stderr.trim() };
}

async function listTree(repository: Repository, commit: string, name: string | undefined): Promise<ListResult> {
  if (name === undefined) return { ok: false, reason: `it lies outside the repository, so ${commit} cannot hold it` };
  // The tree itself, and not a name in it: a link on the way is not followed.
  const tree = name === '' ? commit : `${commit}:${name}`;
  const listed = await repository.run(['ls-tree', '-z', '--full-tree', tree], { env: EXACT });
  if (listed.code !== 0) return { ok: false, reason: `no such folder in ${commit}` };
  const lines = listed.stdout.toString('utf8').split('\0').filter(Boolean);
  const entries = lines.map((line): FolderEntry => {
    const [mode = ''] = line.split(' ', 1);
    return { name: line.slice(line.indexOf('\t') + 1), kind: ENTRY_KINDS[KINDS[mode] ?? ''] ?? 'other' };
  });
  return { ok: true, entries: sortEntries(entries) };
}

const FILE = 'a regular file';
/** What the modes of a tree's entries mean. */
const KINDS: Record<string, string> = {
  '100644': FILE,
  '100755': FILE,
  '100664': FILE,
  '120000': 'a symbolic link',
  '160000': 'a submodule',
  '040000': 'a folder',
};

const ENTRY_KINDS: Record<string, FolderEntry['kind']> = {
  [FILE]: 'file',
  'a symbolic link': 'link',
  'a folder': 'folder',
};
