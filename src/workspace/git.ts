import { IoError } from '../core/errors.ts';
import type { GitState } from '../core/events.ts';
import type { Git } from '../core/ports.ts';
import { readDiff } from './git-diff.ts';
import { fetchRange } from './git-fetch.ts';
import { readLog } from './git-log.ts';
import { patchBetween } from './git-patch.ts';
import { openRepository, type Repository } from './git-repository.ts';
import type { GitCall } from './git-run.ts';
import { type SnapshotPlace, takeSnapshot } from './git-snapshot.ts';

export interface GitOptions {
  /** From `toolEnvironment`. */
  env: Readonly<Record<string, string>>;
  /** A folder of the runner that lives as long as snapshots are compared; it need not exist. */
  scratch: string;
  /** Absolute paths that belong to no snapshot: the run folder. */
  exclude?: readonly string[];
  /** For one call of git. */
  timeout_ms?: number;
}

const TIMEOUT_MS = 60_000;

/** Git on the workspace at `root` (a real path): it starts no program the repository names, and writes its .git only to fetch what is missing. */
export function createGit(root: string, options: GitOptions): Git {
  const call: GitCall = { cwd: root, env: options.env, timeout_ms: options.timeout_ms ?? TIMEOUT_MS };
  const place: SnapshotPlace = { root, scratch: options.scratch, exclude: options.exclude ?? [] };
  return {
    state: async () => {
      const opened = await openRepository(call);
      return opened.ok ? readState(opened.repository) : null;
    },
    diff: async (range) => {
      const opened = await openRepository(call);
      return opened.ok ? readDiff(opened.repository, range) : opened;
    },
    log: async (range) => {
      const opened = await openRepository(call);
      return opened.ok ? readLog(opened.repository, range) : opened;
    },
    fetchMissing: async ({ base, head }, { env, signal }) => {
      const opened = await openRepository({ ...call, signal });
      const range = { ...(base === undefined ? {} : { base }), ...(head === undefined ? {} : { head }) };
      if (opened.ok) await fetchRange(opened.repository, range, env);
    },
    snapshot: async () => {
      const opened = await openRepository(call);
      return opened.ok ? (await takeSnapshot(opened.repository, place)).tree : null;
    },
    patchSince: (snapshot) => patchSince(call, place, snapshot),
  };
}

async function readState(repository: Repository): Promise<GitState> {
  const head = await repository.run(['rev-parse', '--verify', '--quiet', 'HEAD']);
  const branch = await repository.run(['symbolic-ref', '--quiet', '--short', 'HEAD']);
  const status = await repository.run(['status', '--porcelain', '-z', '--ignore-submodules=dirty', '--', '.']);
  return {
    head: head.stdout.toString('utf8').trim() || null,
    branch: branch.stdout.toString('utf8').trim() || null,
    dirty: status.stdout.length > 0,
  };
}

async function patchSince(call: GitCall, place: SnapshotPlace, snapshot: string): Promise<string> {
  const opened = await openRepository(call);
  if (!opened.ok) throw new IoError(`the changes of the workspace cannot be told: ${opened.reason}`);
  const now = await takeSnapshot(opened.repository, place);
  const trees = { scratch: place.scratch, from: snapshot, to: now.tree };
  const patch = await patchBetween(opened.repository, trees);
  if (patch === '' || now.left_out.length === 0) return patch;
  // git apply passes over text before the first file.
  const names = now.left_out.map((name) => JSON.stringify(name)).join(', ');
  return `left out, because they are too large or repositories of their own: ${names}\n${patch}`;
}
