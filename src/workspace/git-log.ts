import type { Git } from '../core/ports.ts';
import { shownText } from './bytes-text.ts';
import { pathspecs } from './git-pathspecs.ts';
import { resolveCommit } from './git-refs.ts';
import type { Repository } from './git-repository.ts';

type Range = Parameters<Git['log']>[0];
type LogResult = Awaited<ReturnType<Git['log']>>;

const MOST_COMMITS = 1000;
const FORMAT = '--format=commit %H%nAuthor: %an <%ae>%nDate: %aI%n%n%w(0,4,4)%B%w(0,0,0)';

/** Commits of a range, newest first; how many were left out stands at the end. */
export async function readLog(repository: Repository, { base, head, paths }: Range): Promise<LogResult> {
  const globs = pathspecs(paths);
  if (!globs.ok) return globs;
  const to = await resolveCommit(repository, head ?? 'HEAD');
  if (!to.ok) return to;
  const from = base === undefined ? undefined : await resolveCommit(repository, base);
  if (from && !from.ok) return from;
  const commits = from ? [`^${from.id}`, to.id] : [to.id];
  const run = (args: readonly string[]) => repository.run([...args, ...commits, '--', ...globs.specs]);
  const log = await run(['log', '--no-color', '--no-mailmap', `--max-count=${MOST_COMMITS}`, FORMAT]);
  if (log.code !== 0) return { ok: false, reason: `git log failed: ${log.stderr}` };
  const text = shownText(log.stdout).text.replaceAll(/^ +$/gm, '').trimEnd();
  if (text === '') return { ok: true, text: '' };
  const count = await run(['rev-list', '--count']);
  const more = Number(count.stdout.toString('utf8')) - MOST_COMMITS;
  const ends = [text];
  if (more > 0) ends.push(`[… ${more} older commits left out …]`);
  if (repository.shallow && !from) ends.push('[… the clone is shallow: older commits are not in it …]');
  return { ok: true, text: `${ends.join('\n\n')}\n` };
}
