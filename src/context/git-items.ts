import type { ContextItem } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { type ContextSources, type ItemText, plainItem } from './source.ts';

type GitItem = Extract<ContextItem, { kind: 'git_diff' | 'git_log' }>;

/** The diff of a range; a range that cannot be told is a UsageError. */
export async function readDiff(item: GitItem, sources: ContextSources): Promise<ItemText> {
  const label = gitLabel('git diff', item);
  const diff = await sources.git.diff(rangeOf(item));
  if (!diff.ok) throw new UsageError(`context ${label}: ${diff.reason}`);
  const count = (shown: string): string => {
    const files = diff.files.length;
    const here = Math.min(shown.match(/^diff --git /gm)?.length ?? 0, files);
    return `${files} files changed, ${files - here} of them do not stand here`;
  };
  return { ...plainItem(label, diff.text), notes: diff.notes, warnings: diff.notes, count };
}

/** The commits of a range. */
export async function readLog(item: GitItem, sources: ContextSources): Promise<ItemText> {
  const label = gitLabel('git log', item);
  const log = await sources.git.log(rangeOf(item));
  if (!log.ok) throw new UsageError(`context ${label}: ${log.reason}`);
  const count = (shown: string): string => {
    const [all, here] = [log.text, shown].map((text) => text.match(/^commit [0-9a-f]{40,64}$/gm)?.length ?? 0);
    return `${all} commits, ${(all ?? 0) - (here ?? 0)} of them do not stand here`;
  };
  return { ...plainItem(label, log.text), count };
}

function rangeOf({ base, head, paths }: GitItem): { base?: string; head?: string; paths: readonly string[] } {
  return { ...(base === undefined ? {} : { base }), ...(head === undefined ? {} : { head }), paths };
}

function gitLabel(command: string, { base, head, paths }: GitItem): string {
  const range = base === undefined ? (head ?? '') : head === undefined ? base : `${base}..${head}`;
  return [command, range, ...(paths.length > 0 ? ['--', ...paths] : [])].filter((part) => part !== '').join(' ');
}
