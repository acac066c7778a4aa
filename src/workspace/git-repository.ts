import { readDrivers } from './git-drivers.ts';
import { type GitSetting, withSettings } from './git-env.ts';
import { type GitAnswer, type GitCall, runGit } from './git-run.ts';

/** The workspace's repository, ready for calls that start none of its programs. */
export interface Repository {
  /** Folder of the workspace below the repository's top, '' or ending in `/`. */
  prefix: string;
  shallow: boolean;
  run(args: readonly string[], extra?: { env?: Record<string, string>; input?: Buffer }): Promise<GitAnswer>;
}

export type Opened = { ok: true; repository: Repository } | { ok: false; reason: string };

// What we read is parsed, so nothing in it may depend on the repository's taste.
export const PLAIN_OUTPUT: readonly GitSetting[] = [
  ['core.quotePath', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['core.splitIndex', 'false'], // would write a shared index beside the repository's own
  ['core.untrackedCache', 'false'],
  ['core.safecrlf', 'false'],
  ['diff.orderFile', '/dev/null'],
  ['diff.suppressBlankEmpty', 'false'],
  ['i18n.logOutputEncoding', 'UTF-8'],
];

/** Opens the repository around `call.cwd`, or says why there is none to use. */
export async function openRepository(call: GitCall): Promise<Opened> {
  // Read again each time: a command of the run may have changed the configuration.
  const env = withSettings(call.env, [...PLAIN_OUTPUT, ...(await readDrivers(call))]);
  const run: Repository['run'] = (args, extra = {}) =>
    runGit({ ...call, env: { ...env, ...extra.env } }, args, extra.input);
  const answer = await run(['rev-parse', '--is-inside-work-tree', '--is-shallow-repository', '--show-prefix']);
  const [inside, shallow, prefix = ''] = answer.stdout.toString('utf8').split('\n');
  if (answer.code === 0 && inside === 'true') {
    return { ok: true, repository: { prefix, shallow: shallow === 'true', run } };
  }
  return { ok: false, reason: openReason(answer) };
}

function openReason(answer: GitAnswer): string {
  if (answer.code === -1) return answer.stderr;
  const foreign = /detected dubious ownership in repository at '([^']*)'/.exec(answer.stderr);
  if (foreign) {
    const top = foreign[1] ?? '';
    return `git refuses the repository at ${top}, because it belongs to another user; use it as the workspace (--workspace ${top}), or run: chown -R "$(id -u)" ${top}`;
  }
  return 'the workspace is no git repository; run actions/checkout before (at your desk: git init), or take out what needs git';
}
