// What a checkout left out, fetched from where it came from: commits by their id, and history up to a merge base.

import { isObjectId, type Resolved, resolveCommit } from './git-refs.ts';
import type { Repository } from './git-repository.ts';

/** Commits more on each attempt; a history that is longer than all of them is left as it is. */
const DEEPEN_STEPS = [50, 200, 1000];
const FETCH = ['fetch', '--quiet', '--no-tags', '--no-recurse-submodules'];

/** What a connection needs of the runner's environment and no tool gets. */
const NETWORK_VARIABLES = /^(?:(?:https?|all|no)_proxy|SSH_AUTH_SOCK|SSL_CERT_(?:FILE|DIR)|CURL_CA_BUNDLE)$/i;

/** The variables of the runner that a fetch may need: proxies, certificates, the SSH agent. */
export function networkEnvironment(source: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const entries = Object.entries(source).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries.filter(([name]) => NETWORK_VARIABLES.test(name)));
}

/** A commit's id; one given by its id and missing in the clone is fetched. Names are never looked up on the remote: a fork's would be somebody else's there. */
export async function obtainCommit(
  repository: Repository,
  ref: string,
  network: Record<string, string>,
): Promise<Resolved> {
  const resolved = await resolveCommit(repository, ref);
  if (resolved.ok || !isObjectId(ref)) return resolved;
  const depth = repository.shallow ? ['--depth=1'] : [];
  const fetched = await repository.run([...FETCH, ...depth, 'origin', ref], { env: network });
  return fetched.code === 0 ? resolveCommit(repository, ref) : resolved;
}

/** Fetches the ends of a range that are given by id and, in a shallow clone, history until they have a common ancestor. Stops at the first fetch that fails: what is missing then is told by whoever needs it. */
export async function fetchRange(
  repository: Repository,
  { base, head = 'HEAD' }: { base?: string; head?: string },
  network: Record<string, string>,
): Promise<void> {
  if (base === undefined) return;
  const from = await obtainCommit(repository, base, network);
  const to = from.ok ? await obtainCommit(repository, head, network) : from;
  if (!from.ok || !to.ok || !repository.shallow) return;
  for (const step of DEEPEN_STEPS) {
    const common = await repository.run(['merge-base', from.id, to.id]);
    if (common.code !== 1) return;
    const fetched = await repository.run([...FETCH, `--deepen=${step}`, 'origin', from.id, to.id], { env: network });
    if (fetched.code !== 0) return;
  }
}
