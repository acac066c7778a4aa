// Endings before a run: the caller's mistake, a bug, a signal. They leave a result like any other.

import process from 'node:process';
import { buildLimits } from '../config/limits.ts';
import { type Env, mergeOptions } from '../config/merge.ts';
import { variableOf } from '../config/options.ts';
import { errorText, UsageError } from '../core/errors.ts';
import { type CancelSignal, exitCode, type RunOutcome } from '../core/outcome.ts';
import { logLines } from '../core/sanitise.ts';
import { recordUnstarted, unstartedResult } from '../run/unstarted.ts';
import { newFolder } from './load-step.ts';
import type { Ended } from './outputs.ts';

/** A signal came while the step still read its inputs. */
export class CancelledEarly extends Error {
  readonly signal: CancelSignal;

  constructor(signal: CancelSignal) {
    super(`cancelled by ${signal} before the run began`);
    this.signal = signal;
  }
}

/** Who set off the event may not set off a run. */
export class TriggerRefused extends Error {}

export interface Asked {
  /** The inputs of these names, as they stand in the workflow. */
  out: string;
  task_file: string;
  env: Env;
  cwd: string;
}

/** The ending of a step that did not come as far as a run, recorded where its run folder would be. */
export function withoutRun(cause: unknown, { out, task_file, env, cwd }: Asked): Ended {
  const outcome = outcomeOf(cause);
  if (outcome.reason === 'internal_error') printStack(cause);
  const message = outcome.reason === 'internal_error' ? `a bug in agent-run: ${errorText(cause)}` : errorText(cause);
  const result = unstartedResult({ outcome, message, task_file, limits: buildLimits({}, mergeOptions({}, {})) });
  const ended: Ended = { outcome, exit_code: exitCode(outcome), message, result_file: result };
  try {
    const run_dir = out || env[variableOf('out')] || newFolder(env);
    recordUnstarted(result, { out: run_dir, cwd });
    return { ...ended, run_dir };
  } catch {
    // The folder cannot be written or is not a run's, which may be the mistake itself: nothing can be left there.
    return ended;
  }
}

function outcomeOf(cause: unknown): RunOutcome {
  if (cause instanceof TriggerRefused) return { reason: 'denied', tool: '', detail: cause.message };
  if (cause instanceof UsageError) return { reason: cause.reason, detail: cause.message };
  if (cause instanceof CancelledEarly) return { reason: 'cancelled', signal: cause.signal };
  return { reason: 'internal_error', detail: errorText(cause) };
}

/** The place of a bug, on stderr, in lines that are no commands. */
export function printStack(cause: unknown): void {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : errorText(cause);
  for (const line of logLines(text)) process.stderr.write(`${line}\n`);
}
