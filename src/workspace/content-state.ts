import { createHash, type Hash } from 'node:crypto';
import { lstat, mkdtemp, readFile, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRepository, type Repository } from './git-repository.ts';
import { takeSnapshot } from './git-snapshot.ts';

export interface ContentPlace {
  /** Real path of the workspace. */
  root: string;
  /** From `toolEnvironment`. */
  env: Readonly<Record<string, string>>;
  /** Real paths that do not count. */
  exclude: readonly string[];
  /** For one call of git. */
  timeout_ms: number;
  /** Files and folders without git beyond which it cannot be told in time. */
  most_entries?: number;
}

const MOST_ENTRIES = 50_000;
/** Beyond this many bytes files are told by their size and time. */
const MOST_READ = 256 * 1024 * 1024;

/**
 * A name for what stands in a workspace: the same text for the same content, and another for any other. In a repository
 * files that git ignores do not count. null: it cannot be told. Rejects for what cannot be read.
 */
export async function contentState(place: ContentPlace): Promise<string | null> {
  const { root, env, timeout_ms } = place;
  const opened = await openRepository({ cwd: root, env, timeout_ms });
  if (opened.ok && !(await isIgnored(opened.repository))) return gitState(opened.repository, place);
  return plainState(place);
}

/** A workspace that its repository ignores would look the same whatever is done to it. */
async function isIgnored(repository: Repository): Promise<boolean> {
  return repository.prefix !== '' && (await repository.run(['check-ignore', '--quiet', '.'])).code === 0;
}

async function gitState(repository: Repository, { root, exclude }: ContentPlace): Promise<string> {
  const scratch = await mkdtemp(join(tmpdir(), 'agent-run-state-'));
  try {
    const { tree, left_out } = await takeSnapshot(repository, { root, scratch, exclude });
    return left_out.length === 0 ? `git:${tree}` : `git:${tree}:${await leftOutState(left_out, root)}`;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Files too large to read are told by their size and time. */
async function leftOutState(names: readonly string[], root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const name of names) {
    const stats = await lstat(join(root, name)).catch(() => null); // gone meanwhile, or a name git had to quote
    hash.update(JSON.stringify([name, stats?.size ?? null, stats?.mtimeMs ?? null]));
  }
  return hash.digest('hex');
}

interface Walk {
  hash: Hash;
  exclude: ReadonlySet<string>;
  entries: number;
  bytes: number;
}

async function plainState({ root, exclude, most_entries = MOST_ENTRIES }: ContentPlace): Promise<string | null> {
  const walk: Walk = { hash: createHash('sha256'), exclude: new Set(exclude), entries: most_entries, bytes: MOST_READ };
  return (await addFolder(walk, root, '')) ? `files:${walk.hash.digest('hex')}` : null;
}

/** False when there is more than is looked at. */
async function addFolder(walk: Walk, root: string, below: string): Promise<boolean> {
  const entries = await readdir(join(root, below), { withFileTypes: true });
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const way = below === '' ? entry.name : `${below}/${entry.name}`;
    const path = join(root, way);
    if (walk.exclude.has(path)) continue;
    walk.entries -= 1;
    if (walk.entries < 0) return false;
    if (entry.isDirectory()) {
      walk.hash.update(JSON.stringify([way]));
      if (!(await addFolder(walk, root, way))) return false;
    } else walk.hash.update(JSON.stringify([way, await fileState(walk, path)]));
  }
  return true;
}

async function fileState(walk: Walk, path: string): Promise<unknown[]> {
  const stats = await lstat(path);
  if (stats.isSymbolicLink()) return ['link', await readlink(path)];
  if (!stats.isFile()) return ['other'];
  const { mode, size, mtimeMs } = stats;
  if (size > walk.bytes) return [mode, size, mtimeMs];
  walk.bytes -= size;
  const text = await readFile(path);
  return [mode, createHash('sha256').update(text).digest('hex')];
}
