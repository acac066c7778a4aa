// What a run leaves that was killed: processes, mount points in the workspace, temporary folders, no result.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { reduce } from '../agent/reduce.ts';
import { EMPTY_STATE } from '../agent/state.ts';
import { buildLimits } from '../config/limits.ts';
import { mergeOptions } from '../config/merge.ts';
import { errorText } from '../core/errors.ts';
import { exitCode, type RunOutcome } from '../core/outcome.ts';
import { readJournal } from '../journal/journal.ts';
import { removeCgroup } from '../sandbox/cgroup.ts';
import { removeStaleMarks } from '../sandbox/marks.ts';
import { createUsageMeter } from '../subscribers/usage-meter.ts';
import { MARKER_PREFIX } from '../workspace/exec-start.ts';
import { endTree } from '../workspace/process-tree.ts';
import { finish } from './finish.ts';
import { isLocked, LOCK_FILE } from './run-lock.ts';
import { recordUnstarted, unstartedResult } from './unstarted.ts';
import type { RunState } from '../agent/state.ts';
import type { RunEvent, RunStart } from '../core/events.ts';

/** What is known of a run from before it began. */
export interface Begun {
  run_dir: string;
  workspace: string;
  task_file: string;
  /** Name of a variable that everything the run starts has in its environment. */
  marker: string;
  /** The folder for the run's own temporary folders; null: the system's, where others have theirs too. */
  temp: string | null;
}

const GRACE_MS = 2000;
const KILLED =
  'the process was killed before it could end the run, as a CI system does some seconds after it cancels a job, or a machine without memory; agent-run resume goes on from the transcript';

/** A name for the marker of one run. */
export function newMarker(): string {
  return `${MARKER_PREFIX}${randomBytes(12).toString('hex')}`;
}

/** Ends and removes what a killed run left, and writes the result it could not; one sentence for each part that fails. */
export async function cleanUpKilled(begun: Begun): Promise<string[]> {
  if (existsSync(begun.run_dir) && isLocked(begun.run_dir))
    return ['the run is still alive, so nothing was cleaned up'];
  const problems: string[] = [];
  const attempt = async (what: string, act: () => void | Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      // EACCES, EBUSY, ENOSPC: one leftover that stays must not keep the others.
      problems.push(`${what}: ${errorText(error)}`);
    }
  };
  await attempt('processes', () => endTree({ marker: `${begun.marker}=1` }, GRACE_MS));
  const { events, state } = readEvents(begun.run_dir);
  await attempt('mount points', () => {
    if (state.start?.runner.sandbox.active === 'bubblewrap') removeStaleMarks(begun.workspace);
  });
  await attempt('temporary folders', () => removeTemp(begun.temp));
  await attempt('result', () => writeResult(begun, events, state));
  rmSync(join(begun.run_dir, LOCK_FILE), { force: true });
  return problems;
}

function readEvents(run_dir: string): { events: RunEvent[]; state: RunState } {
  const file = join(run_dir, 'transcript.jsonl');
  const { events } = existsSync(file) ? readJournal(file) : { events: [] };
  return { events, state: events.reduce(reduce, EMPTY_STATE) };
}

/** A sandbox names its control group after its folder. */
function removeTemp(temp: string | null): void {
  if (temp === null || !existsSync(temp)) return;
  for (const name of readdirSync(temp)) removeCgroup(name);
  rmSync(temp, { recursive: true, force: true });
}

async function writeResult(begun: Begun, events: RunEvent[], state: RunState): Promise<void> {
  if (existsSync(join(begun.run_dir, 'result.json'))) return;
  const outcome = outcomeOf(state);
  if (!state.start) return writeUnstarted(begun, outcome);
  await finish({
    ...factsOf(state.start, begun, events),
    state,
    outcome,
    next: null,
    patch: async () => null,
    dispose: () => {},
  });
}

/** A failure that was decided stays; a success that was not written down is none. */
function outcomeOf({ ended }: RunState): RunOutcome {
  return ended && exitCode(ended.outcome) !== 0 ? ended.outcome : { reason: 'io_error', detail: KILLED };
}

function factsOf(start: RunStart, { run_dir, workspace }: Begun, events: RunEvent[]) {
  const meter = createUsageMeter();
  for (const event of events) meter.onEvent(event);
  const times = events.map(({ time }) => Date.parse(time));
  return {
    config: { task: start.task, workspace, untrusted: true },
    run_dir,
    run_id: events[0]?.run_id ?? '',
    usage: meter.report(),
    started_ms: times[0] ?? 0,
    finished_ms: times.at(-1) ?? 0,
  };
}

function writeUnstarted({ run_dir, task_file }: Begun, outcome: RunOutcome): void {
  const limits = buildLimits({}, mergeOptions({}, {}));
  const result = unstartedResult({ outcome, message: KILLED, task_file, limits });
  recordUnstarted(result, { out: run_dir, cwd: run_dir });
}
