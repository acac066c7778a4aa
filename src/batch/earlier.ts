// What an interrupted batch left of a run: its verdict, a run to go on with, or nothing of use.

import { lstatSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { isJsonObject, parseJson } from '../core/json.ts';
import { readJournal } from '../journal/journal.ts';
import { headOf } from '../run/resume-trust.ts';
import type { ResultFile } from '../run/result.ts';
import { RESULT_VERSION } from '../run/result.ts';
import { TRANSCRIPT } from '../run/run-folder.ts';
import { createUsageMeter } from '../subscribers/usage-meter.ts';
import type { Env } from '../run/place.ts';
import type { Contents } from './contents.ts';
import type { Known } from './known.ts';

export type Earlier =
  /** Nothing of use; `why`: there was a verdict, and it does not hold any more. */
  | { kind: 'none'; why?: string }
  /** It had its say; nothing is paid again. */
  | { kind: 'finished'; run_dir: string; result: ResultFile }
  /** It began and was cut short; `allow_changed`: runs of the batch itself moved HEAD. */
  | { kind: 'begun'; run_dir: string; allow_changed: boolean; spent_usd: number };

/** Codes of a task that had its say, whatever it said; the others come from the machine, the caller, the service or a signal. */
const VERDICTS: readonly number[] = [0, 3, 4, 5, 7, 8, 9];

export interface Place {
  /** The batch's folder, absolute. */
  dir: string;
  workspace: string;
  env: Env;
  contents: Contents;
  /** The run looks at its workspace. */
  looks: boolean;
}

/**
 * Looks at the folder a record names. A workspace at another commit than the batch left it makes everything of before
 * void, and other content the verdicts; what was cut short goes on with a conversation and not with a state of files.
 */
export async function findEarlier(known: Known, key: string, place: Place): Promise<Earlier> {
  const begun = known.runs.get(key);
  const run_dir = begun && folderBelow(place.dir, begun.run_dir);
  if (run_dir === undefined) return { kind: 'none' };
  const result = readResult(run_dir);
  const events = readEvents(run_dir);
  const start = events.find((event) => event.type === 'run_start');
  if (!start) return { kind: 'none' };
  const head = await headOf(place.workspace, place.env);
  const same = head === (start.git?.head ?? null);
  const ours = same || head === known.heads.get(place.workspace);
  if (!ours) return { kind: 'none', why: 'its workspace is at another commit than the batch left it at' };
  if (result && VERDICTS.includes(result.exit_code)) {
    if (place.looks && !(await holds(known, key, place)))
      return { kind: 'none', why: 'what stands in its workspace is not what the batch left there' };
    return { kind: 'finished', run_dir, result };
  }
  return { kind: 'begun', run_dir, allow_changed: !same, spent_usd: spentIn(events) };
}

/** True when the workspace is as the run found it, or as the batch found it or left it with nobody else at work between. */
async function holds(known: Known, key: string, { contents, workspace }: Place): Promise<boolean> {
  const begun = known.runs.get(key);
  const place = known.places.get(workspace);
  const now = await contents.of(workspace);
  if (now === null || begun?.content === undefined) return false;
  if (now === begun.content) return true;
  return (
    place !== undefined && place.epoch === begun.epoch && (place.cut || [place.content, place.since].includes(now))
  );
}

/** A folder named in a record, if it really lies below; links are not followed. */
function folderBelow(dir: string, path: string): string | undefined {
  const folder = join(dir, path);
  const way = relative(dir, folder);
  if (way === '' || way.startsWith('..') || isAbsolute(way)) return undefined;
  const parts = way.split('/').map((_, index, all) => join(dir, ...all.slice(0, index + 1)));
  return parts.every((part) => lstatSync(part, { throwIfNoEntry: false })?.isDirectory()) ? folder : undefined;
}

/** The result in a run folder of ours; undefined: it has none, or one of another version. */
export function readResult(run_dir: string): ResultFile | undefined {
  let text: string;
  try {
    text = readFileSync(join(run_dir, 'result.json'), 'utf8');
  } catch {
    // ENOENT: the run was killed before it had a result.
    return undefined;
  }
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return undefined;
  const { schema_version, exit_code } = parsed.value;
  if (schema_version !== RESULT_VERSION || typeof exit_code !== 'number') return undefined;
  return parsed.value as unknown as ResultFile; // of this version, and in a folder that our record names
}

function readEvents(run_dir: string): ReturnType<typeof readJournal>['events'] {
  try {
    return readJournal(join(run_dir, TRANSCRIPT)).events;
  } catch (error) {
    // UsageError: missing, damaged, or of a newer version; then the run begins anew.
    if (error instanceof UsageError) return [];
    throw error;
  }
}

function spentIn(events: ReturnType<typeof readEvents>): number {
  const meter = createUsageMeter();
  for (const event of events) meter.onEvent(event);
  return meter.report().cost_usd ?? 0;
}
