// `agent-run report RUN_DIR...`: run folders, also of other machines, as one file for people or programs.

import { resolve } from 'node:path';
import { readChoice } from '../config/options.ts';
import { UsageError } from '../core/errors.ts';
import { showMany } from '../core/figures.ts';
import { exitCode, type RunOutcome } from '../core/outcome.ts';
import { logLines } from '../core/sanitise.ts';
import { REPORT_FORMATS, type ReportFormat } from '../reports/formats.ts';
import type { Collection } from '../reports/collect.ts';
import type { Flags, Invocation } from './invocation.ts';
import { printEnding, printLines } from './failure.ts';
import { refuseOddTarget, refuseSource, writeReport } from './report-file.ts';
import { inActions, type World } from './world.ts';

/** Nothing was left out: 0, or with --exit-code the worst code of the runs. Something could not be reported: 2. */
export async function reportCommand({ positionals, flags }: Invocation, world: World): Promise<number> {
  if (positionals.length === 0) throw new UsageError('no run folder given; expected the folders of one or more runs');
  const format = formatOf(flags);
  const name = single(flags, 'out');
  const out = name === undefined ? undefined : resolve(world.cwd, name);
  if (out !== undefined) refuseOddTarget(out);
  const { collect } = await import('../reports/collect.ts');
  const { renderReport } = await import('../reports/render.ts');
  const { totalsOf } = await import('../reports/totals.ts');
  const collection = await collect(positionals, flags['merge'] === true);
  if (out !== undefined) refuseSource(out, collection.sources);
  const pieces = renderReport(collection, format);
  if (out !== undefined) await writeReport(pieces, out);
  else if (!(await print(pieces, format, world))) return notTaken(world);
  const totals = totalsOf(collection);
  sayWhatIsMissing(collection, world);
  printLines(world, `agent-run: report of ${showMany(totals.runs, 'run')}, worst exit code ${totals.exit_code}`);
  if (collection.problems.length > 0) return 2;
  return flags['exit-code'] === true ? totals.exit_code : 0;
}

function formatOf(flags: Flags): ReportFormat {
  const value = single(flags, 'format');
  return value === undefined ? 'markdown' : readChoice(REPORT_FORMATS, { value, origin: '--format' });
}

/** The value of an option that may be given once. Variables are not asked: AGENT_RUN_OUT and _FORMAT are a run's. */
export function single(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  if (typeof value !== 'object') return value === undefined ? undefined : String(value);
  throw new UsageError(`--${name}: found ${value.map((item) => JSON.stringify(item)).join(' and ')}, expected it once`);
}

function sayWhatIsMissing({ problems, not_started, notes }: Collection, world: World): void {
  for (const note of notes) printLines(world, `agent-run: ${note}`);
  for (const { task, reason, message } of not_started)
    printLines(world, `agent-run: ${task} was not started (${reason}): ${message}`);
  for (const problem of problems) printLines(world, `agent-run: not reported: ${problem}`);
}

/** False when stdout was closed or nobody reads it. */
async function print(pieces: AsyncIterable<string>, format: ReportFormat, world: World): Promise<boolean> {
  const plain = format === 'markdown' && inActions(world.env);
  for await (const piece of pieces) {
    world.stdout.write(plain ? logLines(piece).join('\n') : piece);
    // What nobody takes must not pile up in memory.
    if (!(await world.stdout.flush())) return false;
  }
  return true;
}

function notTaken(world: World): number {
  const detail = 'stdout was closed or not read before the whole report was written';
  const outcome: RunOutcome = { reason: 'io_error', detail };
  printEnding(world, outcome, { message: detail, next: 'write it to a file with --out' });
  return exitCode(outcome);
}
