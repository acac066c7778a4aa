// `agent-run TASK`: load, run, hand the result over.

import { mergeBatchOptions } from '../config/batch-options.ts';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { mergeOptions, type RunOptions } from '../config/merge.ts';
import { misspeltVariables } from '../config/options.ts';
import { errorText, UsageError } from '../core/errors.ts';
import { SYSTEM_CLOCK } from '../run/clock.ts';
import { listen } from '../run/interrupts.ts';
import type { ResumeRequest } from '../run/resume.ts';
import { shellWord } from '../run/next-command.ts';
import { run, type RunRequest } from '../run/run.ts';
import type { SegmentResult } from '../run/segment.ts';
import { watchRun } from '../run/watchers.ts';
import type { Invocation } from './invocation.ts';
import { isBatch } from './is-batch.ts';
import { commandHint } from './arguments.ts';
import { deliver } from './deliver.ts';
import { passSignals, takeSignal } from './early-signals.ts';
import { loadTask } from './load-task.ts';
import { printLines } from './failure.ts';
import { liveArea, wantsColor } from './terminal.ts';
import type { World } from './world.ts';

/** Runs one task; the exit code of its outcome. */
export async function runCommand(invocation: Invocation, world: World): Promise<number> {
  const options = mergeOptions(invocation.flags, world.env);
  if (options.dry_run) {
    passSignals();
    const { validateCommand } = await import('./validate-command.ts');
    return validateCommand(invocation, world);
  }
  const file = invocation.positionals[0];
  for (const { name, meant } of misspeltVariables(world.env))
    printLines(world, `warning: the variable ${name} is no option and changes nothing; did you mean "${meant}"?`);
  refuseMisspelt(invocation, world);
  if (isBatch(invocation, world.cwd)) {
    const { batchCommand } = await import('./batch-command.ts');
    return batchCommand(invocation, options, world);
  }
  if (file === undefined)
    throw new UsageError('no task given; expected a task file, - for standard input, or a command');
  const config = await loadTask(file, withTotal(options, world), world);
  const { env, cwd } = world;
  const words = wordsOf(invocation);
  const request = { config, words, env, cwd, early_signal: takeSignal, subscribers: watch(options, world) };
  return deliverAfter(() => run(request), options, world);
}

/** A total for all runs bounds a single one too: a limit that stands in a variable is never passed over. */
function withTotal(options: RunOptions, { env }: World): RunOptions {
  const { max_total_cost_usd: total } = mergeBatchOptions({}, env);
  return total === undefined
    ? options
    : { ...options, max_cost_usd: Math.min(options.max_cost_usd ?? Infinity, total) };
}

/** What was typed behind the command, ready for a shell. */
function wordsOf({ positionals, flags }: Invocation): string {
  const given = Object.entries(flags).flatMap(([name, value]) => {
    if (value === true) return [`--${name}`];
    return [value ?? []].flat().flatMap((text) => [`--${name}`, String(text)]);
  });
  return [...positionals, ...given].map(shellWord).join(' ');
}

/** A command that is spelt wrong must not run the tasks behind it. */
function refuseMisspelt({ positionals: [first = '', ...others] }: Invocation, { cwd }: World): void {
  if (others.length === 0 || existsSync(resolve(cwd, first))) return;
  const hint = commandHint(first);
  if (hint !== '')
    throw new UsageError(`found ${JSON.stringify(first)}, which is neither a task file nor a command${hint}`);
}

/** Goes on with a run in its own folder; limits given here are new totals. */
export async function resumeCommand({ positionals, flags }: Invocation, world: World): Promise<number> {
  const [run_dir] = positionals;
  if (run_dir === undefined) throw new UsageError('no run folder given; expected the folder of an earlier run');
  const options = mergeOptions(flags, world.env);
  const { max_turns, max_cost_usd, timeout_ms } = options;
  const prompt = [flags['prompt'] ?? []].flat();
  if (prompt.length > 1 || prompt[0] === '') throw new UsageError('--prompt: expected one text that is not empty');
  const { resume } = await import('../run/resume.ts');
  const request: ResumeRequest = {
    run_dir,
    ...(typeof prompt[0] === 'string' ? { prompt: prompt[0] } : {}),
    limits: {
      ...(max_turns === undefined ? {} : { max_turns }),
      ...(max_cost_usd === undefined ? {} : { max_cost_usd }),
      ...(timeout_ms === undefined ? {} : { timeout_ms }),
    },
    allow_changed: flags['allow-changed'] === true,
    env: world.env,
    cwd: world.cwd,
    early_signal: takeSignal,
    subscribers: watch(options, world),
  };
  return deliverAfter(() => resume(request), options, world);
}

function watch(options: RunOptions, world: World): RunRequest['subscribers'] {
  const live = liveArea(options, world);
  return watchRun({
    progress: {
      write: (text) => world.stderr.write(text),
      quiet: options.quiet,
      verbose: options.verbose,
      color: wantsColor(options, world),
      clock: SYSTEM_CLOCK,
      ...(live ? { live } : {}),
    },
    ...(options.format === 'stream-json' ? { events: (line: string) => world.stdout.write(line) } : {}),
  });
}

/** Runs and hands the result over; signals are heard until it is, without a moment between. */
async function deliverAfter(act: () => Promise<SegmentResult>, options: RunOptions, world: World): Promise<number> {
  const interrupts = listen();
  try {
    const result = await act();
    const { fault } = result;
    if (fault !== undefined) printLines(world, fault instanceof Error ? (fault.stack ?? '') : errorText(fault));
    if (result.remark !== undefined) printLines(world, `warning: ${result.remark}`);
    return await deliver(result, { format: options.format, signal: interrupts.signal }, world);
  } finally {
    interrupts.dispose();
  }
}
