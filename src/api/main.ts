// The package as a library: `import { run } from 'agent-run'`.

import { loadRun } from '../config/load.ts';
import { type Env, mergeOptions, type RunOptions as Merged } from '../config/merge.ts';
import type { RawFlags } from '../config/options.ts';
import type { TaskFile } from '../config/task-file.ts';
import { errorText, UsageError } from '../core/errors.ts';
import type { RunEvent } from '../core/events.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Subscriber } from '../core/ports.ts';
import { follow } from '../run/interrupts.ts';
import type { ResultFile } from '../run/result.ts';
import { run as runConfig } from '../run/run.ts';

export type { TaskFile } from '../config/task-file.ts';
export { UsageError } from '../core/errors.ts';
export type { RunEvent } from '../core/events.ts';
export type { ExitReason, LimitHit, RunOutcome, RunStatus } from '../core/outcome.ts';
export type { ResultFile } from '../run/result.ts';

/** What a caller may decide beside the task; for limits the tightest wins, as on the command line. */
export interface RunOptions {
  /** Values for the task's inputs, taken as they are. */
  inputs?: Readonly<Record<string, string>>;
  /** The run folder; default: a new one below `agent-run-results/`. */
  out?: string;
  /** Where tools work; default: `cwd`. */
  workspace?: string;
  model?: string;
  maxTurns?: number;
  maxCostUsd?: number;
  /** With a unit: "90s", "20m". */
  timeout?: string;
  /** The commit that the task and every file it names are read from. */
  taskRef?: string;
  untrusted?: boolean;
  /** How many run folders of this task stay. */
  keep?: number;
  /** Where relative paths begin, and an object's own file names; default: the process's folder. */
  cwd?: string;
  /** Keys and CI facts are read from here; default: the process's environment. */
  env?: Env;
  /** Cancels the run: it ends as on SIGTERM (exit code 143), with all its artifacts. */
  signal?: AbortSignal;
  /**
   * Hears every line of the transcript once it is on disk. What it throws becomes a notice of the run; a promise is not
   * waited for, and its rejection becomes the result's `remark`.
   */
  onEvent?: (event: RunEvent) => unknown;
}

export interface RunResult {
  runDir: string;
  /** What `agent-run` would exit with. */
  exitCode: number;
  /** The content of result.json; success is `status === 'success'` and nothing else. */
  result: ResultFile;
  /** What an `internal_error` came from. */
  fault?: unknown;
  /** What went wrong beside the run, such as spans that a collector did not take. */
  remark?: string;
}

/**
 * Runs one task: the path of a task file, or its content as an object. Every ending of a run is a result; a mistake of
 * the caller (task, option, input, key) throws UsageError before anything is spent, or is code 2 once a run folder is known.
 */
export async function run(task: string | TaskFile, options: RunOptions = {}): Promise<RunResult> {
  checkNames(options);
  const { cwd = process.cwd(), env = process.env } = options;
  const text = typeof task === 'string' ? '' : textOf(task);
  const config = await loadRun({
    file: typeof task === 'string' ? task : '-',
    options: merged(options, env),
    env,
    cwd,
    readStdin: async () => ({ ok: true, text }),
    openCommit: async (ref, folder) => {
      const { openCommit } = await import('../run/task-ref.ts');
      return openCommit(ref, { cwd: folder, env });
    },
  });
  const remarks: string[] = [];
  const { exit_code, result, run_dir, fault, remark } = await runConfig({
    config,
    env,
    cwd,
    interrupts: follow(options.signal),
    subscribers: () => listener(options.onEvent, remarks),
  });
  if (remark !== undefined) remarks.push(remark);
  const file = result as unknown as ResultFile; // the object result.json was written from
  return {
    runDir: run_dir,
    exitCode: exit_code,
    result: file,
    ...(fault === undefined ? {} : { fault }),
    ...(remarks.length === 0 ? {} : { remark: remarks.join('; ') }),
  };
}

const NAMES = {
  inputs: 1,
  out: 1,
  workspace: 1,
  model: 1,
  maxTurns: 1,
  maxCostUsd: 1,
  timeout: 1,
  taskRef: 1,
  untrusted: 1,
  keep: 1,
  cwd: 1,
  env: 1,
  signal: 1,
  onEvent: 1,
} satisfies Record<keyof Required<RunOptions>, 1>;

/** A limit under a name that nobody reads would be no limit. */
function checkNames(options: RunOptions): void {
  const names = Object.keys(NAMES);
  const strange = Object.keys(options).find((name) => !Object.hasOwn(NAMES, name));
  if (strange === undefined) return;
  const hint = didYouMean(strange, names) || `, expected one of ${names.join(', ')}`;
  throw new UsageError(`run(task, options): found the unknown option ${JSON.stringify(strange)}${hint}`);
}

/** Callers without types may hand over anything. */
function textOf(task: unknown): string {
  if (typeof task !== 'object' || task === null)
    throw new UsageError(
      `run(task): found ${String(task)}, expected the path of a task file or its content as an object`,
    );
  try {
    return JSON.stringify(task);
  } catch (error) {
    // TypeError: the object holds itself, or a number that JSON has no form for.
    throw new UsageError(`run(task): the task cannot be written as JSON: ${errorText(error)}`, { cause: error });
  }
}

function listener(onEvent: RunOptions['onEvent'], remarks: string[]): Subscriber[] {
  if (!onEvent) return [];
  const failed = (error: unknown): void => {
    if (remarks.length === 0) remarks.push(`onEvent failed: ${errorText(error)}`);
  };
  return [{ name: 'onEvent', onEvent: (event) => void Promise.resolve(onEvent(event)).catch(failed) }];
}

/** The same checks and variables as on the command line, whose names the messages use. */
function merged(options: RunOptions, env: Env): Merged {
  const { inputs = {}, out, workspace, model, maxTurns, maxCostUsd, timeout, taskRef, untrusted, keep } = options;
  const given = {
    out,
    workspace,
    model,
    timeout,
    untrusted,
    'max-turns': maxTurns?.toString(),
    'max-cost-usd': maxCostUsd?.toString(),
    'task-ref': taskRef,
    keep: keep?.toString(),
  };
  const flags: RawFlags = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const base = mergeOptions(flags, env);
  const texts = Object.entries(inputs).map(([name, value]) => ({
    value: `${name}=${value}`,
    origin: `inputs.${name}`,
    reads_files: false,
  }));
  return { ...base, inputs: [...base.inputs, ...texts] }; // the later one counts
}
