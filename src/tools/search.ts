import { headOf } from '../core/graphemes.ts';
import { globRegExp } from '../core/globs.ts';
import type { Files, ToolContext, ToolOutput } from '../core/ports.ts';
import { type LineMatch, signalEnd, useMatcher } from './line-matcher.ts';
import { filesWithin, prefixOf, type SearchPlan } from './list-folder.ts';

export type Found =
  | { ok: true; paths: string[]; more: boolean }
  | { ok: false; status: ToolOutput['status']; text: string };

/** Files below the plan's folder that its rule and the model's own glob (relative to that folder) admit. */
export async function findFiles(
  files: Files,
  plan: SearchPlan,
  glob: string | undefined,
  signal: AbortSignal,
): Promise<Found> {
  const listed = await filesWithin(files, plan, signal);
  if (!listed.ok) return { ok: false, status: 'error', text: listed.reason };
  // A walk that was stopped has seen less than there is, which must not look like "no match".
  if (signal.aborted) return { ok: false, ...matchFailure({ ok: false, reason: signalEnd(signal) }, '') };
  const { paths, more } = listed;
  if (glob === undefined) return { ok: true, paths, more };
  const pattern = globRegExp(glob);
  if (!pattern)
    return { ok: false, status: 'error', text: `the glob ${JSON.stringify(headOf(glob, 100))} cannot be read` };
  const base = prefixOf(files, plan).length;
  const relative = paths.map((path) => path.slice(base));
  const found = await useMatcher(pattern, signal, async (matcher) =>
    matcher.match(relative, { limit: paths.length, whole: true }),
  );
  if (!found.ok) return { ok: false, ...matchFailure(found, glob) };
  return { ok: true, paths: found.hits.flatMap(([index]) => paths[index] ?? []), more };
}

/** The answer to a pattern that could not be applied. */
export function matchFailure(
  match: Extract<LineMatch, { ok: false }>,
  pattern: string,
): { status: ToolOutput['status']; text: string } {
  if (match.reason === 'cancelled') return { status: 'cancelled', text: 'The search was cut: the run is ending.' };
  if (match.reason === 'timed_out') return { status: 'timed_out', text: 'The search did not end in time; narrow it.' };
  return {
    status: 'error',
    text: `the pattern ${JSON.stringify(pattern)} takes too long; write it without nested repetition`,
  };
}

/** The call's own end: its timeout, or the end of the run. */
export function callSignal(context: ToolContext): AbortSignal {
  return AbortSignal.any([context.signal, AbortSignal.timeout(context.timeout_ms)]);
}
