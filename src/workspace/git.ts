import { IoError } from '../core/errors.ts';
import type { GitState } from '../core/events.ts';
import type { Git } from '../core/ports.ts';
import { readDiff } from './git-diff.ts';
import { fetchRange } from './git-fetch.ts';
import { readLog } from './git-log.ts';
import { patchBetween } from './git-patch.ts';
import { readDrivers } from './git-drivers.ts';
import { type GitSetting, withSettings } from './git-env.ts';
import { quickGit } from './git-quick.ts';
import { isObjectId } from './git-refs.ts';
import { openRepository, PLAIN_OUTPUT, type Repository } from './git-repository.ts';
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
  /** What `readDrivers` said a moment ago, so that the first question for the state need not ask again. */
  drivers?: readonly GitSetting[];
}

const TIMEOUT_MS = 60_000;

/** Git on the workspace at `root` (a real path): it starts no program the repository names, and writes its .git only to fetch what is missing. */
export function createGit(root: string, options: GitOptions): Git {
  const call: GitCall = { cwd: root, env: options.env, timeout_ms: options.timeout_ms ?? TIMEOUT_MS };
  const place: SnapshotPlace = { root, scratch: options.scratch, exclude: options.exclude ?? [] };
  return {
    state: async () => {
      const known = await quickState(call, options.drivers ?? (await readDrivers(call)));
      if (known) return known;
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

/** The state from one call of git; undefined when it has no answer, for whatever reason. */
async function quickState(call: GitCall, drivers: readonly GitSetting[]): Promise<GitState | undefined> {
  const env = withSettings(call.env, [...PLAIN_OUTPUT, ...drivers]);
  const what = ['--porcelain=v2', '--branch', '--no-ahead-behind', '-z', '--ignore-submodules=dirty', '--', '.'];
  const answer = await quickGit({ ...call, env }, ['status', ...what]);
  const lines = answer.stdout.toString('utf8').split('\0').filter(Boolean);
  const header = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`# ${name} `))?.slice(name.length + 3);
  const [head, branch] = [header('branch.oid'), header('branch.head')];
  if (answer.code !== 0 || head === undefined || branch === undefined) return undefined;
  return {
    head: isObjectId(head) ? head : null, // or "(initial)"
    branch: branch === '(detached)' ? null : branch,
    dirty: lines.some((line) => !line.startsWith('# ')),
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
