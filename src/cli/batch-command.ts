// `agent-run run TASK...`: several runs, one report.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runBatch, type BatchResult } from '../batch/batch.ts';
import { countsText, watchLines } from '../batch/lines.ts';
import { recordLoss } from '../batch/lost.ts';
import { isUnpaid } from '../batch/one-run.ts';
import { recordRefused, refusedReport } from '../batch/refused.ts';
import type { BatchReport, ReportRun } from '../batch/report.ts';
import type { BatchWatch } from '../batch/state.ts';
import { mergeBatchOptions } from '../config/batch-options.ts';
import type { RunOptions } from '../config/merge.ts';
import { variableOf } from '../config/options.ts';
import { errorText, UsageError } from '../core/errors.ts';
import type { AbortCause } from '../core/events.ts';
import { showMany, showUsd } from '../core/figures.ts';
import { exitCode, type ExitReason } from '../core/outcome.ts';
import { jsonLine, logLine } from '../core/sanitise.ts';
import { SYSTEM_CLOCK } from '../run/clock.ts';
import { listen } from '../run/interrupts.ts';
import { shellWord } from '../run/next-command.ts';
import { takeSignal } from './early-signals.ts';
import { printLines } from './failure.ts';
import type { Flags, Invocation } from './invocation.ts';
import { loadTask } from './load-task.ts';
import { liveArea, wantsColor } from './terminal.ts';
import type { World } from './world.ts';

/** Runs them all; the worst of their codes. */
export async function batchCommand(
  { positionals, flags }: Invocation,
  options: RunOptions,
  world: World,
): Promise<number> {
  const { env, cwd } = world;
  const interrupts = listen(takeSignal);
  try {
    const batch = mergeBatchOptions(flags, env);
    const shared = onceRead(world);
    if (positionals.length === 0) throw new UsageError('no task given; expected task files or globs');
    const result = await runBatch({
      words: positionals,
      options,
      batch,
      env,
      cwd,
      load: (file, own) => loadTask(file, own, shared),
      interrupts,
      watch: watchFor(options, world),
    });
    return await deliverReport(result, { options, signal: interrupts.signal }, world);
  } catch (error) {
    // UsageError: nothing could begin. A reader of stdout, or of the folder, gets a report all the same.
    if (!(error instanceof UsageError)) throw error;
    const report = refusedReport(error.message);
    recordRefused(report, { out: options.out, cwd, shard: shardOf(flags, env) });
    if (options.format === 'text') throw error;
    return await deliverReport({ report }, { options, signal: interrupts.signal }, world);
  } finally {
    interrupts.dispose();
  }
}

/** As given, also when the other options are broken. */
function shardOf({ shard }: Flags, env: World['env']): string | undefined {
  return shard === undefined ? env[variableOf('shard')] || undefined : [shard].flat().join(' ');
}

function watchFor(options: RunOptions, world: World): BatchWatch {
  const { quiet, verbose, format } = options;
  return watchLines({
    write: (text) => world.stderr.write(text),
    quiet,
    verbose,
    color: wantsColor(options, world),
    clock: SYSTEM_CLOCK,
    live: liveArea(options, world),
    fault: (error) => printLines(world, error instanceof Error ? (error.stack ?? '') : errorText(error)),
    ...(format === 'stream-json' ? { events: (line: string) => world.stdout.write(line) } : {}),
  });
}

/** Beyond this whoever reads it says that it is too large. */
const MOST_STDIN_BYTES = 32 * 1024 ** 2;

/** Standard input is read for the first task that asks, and is the same for the others. */
function onceRead(world: World): World {
  let read: Promise<unknown[]> | undefined;
  const all = async (): Promise<unknown[]> => {
    const chunks: unknown[] = [];
    let bytes = 0;
    for await (const chunk of world.stdin) {
      chunks.push(chunk);
      bytes += Buffer.from(chunk as Uint8Array).length; // stdin without encoding yields bytes
      if (bytes > MOST_STDIN_BYTES) break;
    }
    return chunks;
  };
  const stdin = {
    async *[Symbol.asyncIterator]() {
      yield* await (read ??= all());
    },
  };
  return { ...world, stdin };
}

interface Wanted {
  options: RunOptions;
  /** Ends the waiting for a reader. */
  signal: AbortSignal;
}

/** Hands the report over; the last line waits for that, because stdout that nobody took is an ending of its own. */
async function deliverReport(
  { report, report_file: file }: Pick<BatchResult, 'report'> & { report_file?: string },
  { options, signal }: Wanted,
  world: World,
): Promise<number> {
  writeReport(report, options, world);
  const aborted = new Promise<false>((done) => {
    if (signal.aborted) done(false);
    else signal.addEventListener('abort', () => done(false), { once: true });
  });
  const { exit_code: before } = report.totals;
  // After a signal nothing is waited for, and nothing is worse.
  const taken = (await Promise.race([world.stdout.flush(), aborted])) || before > 128;
  const told = taken ? report : recordLoss(report, { ...undelivered(signal), file });
  const { exit_code } = told.totals;
  if (!options.quiet || exit_code !== 0) printEnd(told, file, world);
  return exit_code;
}

function undelivered(signal: AbortSignal): { code: number; problem: string } {
  if (!signal.aborted) return { code: 1, problem: 'stdout was closed or not read before the whole report was written' };
  const problem = 'cancelled before the whole report was written to stdout';
  return { code: exitCode(signal.reason as AbortCause), problem }; // interrupts abort with nothing else
}

/** How the whole ended: the worst of it, where the report is, what was spent, what to type next. */
function printEnd(report: BatchReport, file: string | undefined, world: World): void {
  const { exit_code, turns, cost_usd } = report.totals;
  const worst = exit_code === 0 ? undefined : report.runs.find((run) => run.exit_code === exit_code);
  const reason = worst?.exit_reason ?? reasonOf(exit_code);
  const problem = worst || exit_code === 0 ? '' : (report.problems.at(exit_code === 2 ? 0 : -1) ?? '');
  const cause = [problem, ...(worst ? [worst.task] : []), countsText(report)].filter((part) => part !== '').join('; ');
  const parts = [
    `agent-run: ${reason} (exit ${exit_code}): ${cause}`,
    ...(file === undefined ? [] : [`at ${file}`]),
    turns === 0 ? 'spent nothing' : `spent ${showMany(turns, 'turn')}, ${showUsd(cost_usd)}`,
    ...(exit_code === 0 ? [] : [`next: ${nextAfter(report, worst, file)}`]),
  ];
  printLines(world, parts.join(' | '));
}

/** Of what is no run: all is well, a signal, stdout, or a mistake. */
function reasonOf(exit_code: number): ExitReason {
  if (exit_code > 128) return 'cancelled';
  return exit_code === 0 ? 'completed' : exit_code === 1 ? 'io_error' : 'config_error';
}

/** What the machine, the service or a signal ended goes on with --continue; anything else is worth reading first. */
function nextAfter(report: BatchReport, worst: ReportRun | undefined, file: string | undefined): string {
  if (file === undefined) return 'agent-run run --help';
  const { exit_code } = report.totals;
  if (exit_code === 1 || exit_code === 6 || exit_code > 128) return 'the same command with --continue';
  // What ended with a verdict is taken over then.
  if (exit_code === 2 && !worst) return 'mend that, then the same command with --continue';
  if (exit_code === 2) return `agent-run validate ${shellWord(worst?.file ?? '')}`;
  if (exit_code === 4 && report.runs.some(isUnpaid)) {
    return 'the same command with --continue and a higher --max-total-cost-usd';
  }
  const folder = worst?.run_dir ? join(dirname(file), worst.run_dir) : undefined;
  return `cat ${shellWord(folder === undefined ? file : tellingFile(folder))}`;
}

/** A run that never began has no summary. */
function tellingFile(folder: string): string {
  const summary = join(folder, 'summary.md');
  return existsSync(summary) ? summary : join(folder, 'result.json');
}

function writeReport(report: BatchReport, { format }: RunOptions, world: World): void {
  if (format === 'json') world.stdout.write(`${jsonLine(report)}\n`);
  else if (format === 'stream-json') world.stdout.write(`${jsonLine({ type: 'batch_end', report })}\n`);
  else for (const line of table(report)) world.stdout.write(`${logLine(line)}\n`);
}

/** One line a run: code, reason, name, folder. */
function table({ runs }: BatchReport): string[] {
  return runs.map((run) => [run.exit_code, run.exit_reason, run.task, run.run_dir].join('\t'));
}
