// What a batch says to people: a line when it begins, one for each run that ended, and warnings of the runs between.

import { logLine } from '../core/sanitise.ts';
import { watchRun } from '../run/watchers.ts';
import { showCount, showMany, showSpan, showUsd } from '../core/figures.ts';
import { oneLine } from '../subscribers/one-line.ts';
import { createStreamJson } from '../subscribers/stream-json.ts';
import type { BatchWatch } from './state.ts';
import type { BatchReport, ReportRun } from './report.ts';

export interface LinesOptions {
  /** Takes whole lines. */
  write(text: string): void;
  quiet: boolean;
  verbose: boolean;
  color: boolean;
  /** Takes one event a line; absent: nobody wants them. */
  events?: (line: string) => void;
  /** Told what a bug came from. */
  fault(error: unknown): void;
}

const MESSAGE_SHOWN = 300;

/** Plain lines, each naming its run. */
export function watchLines(options: LinesOptions): BatchWatch {
  let all = 0;
  let done = 0;
  const say = (text: string): void => options.write(`${logLine(text)}\n`);
  return {
    begin({ runs, workers, problems, report }) {
      all = runs;
      for (const problem of problems) say(`error: ${problem}`);
      if (!options.quiet) say(`batch: ${showMany(runs, 'run')}, ${showMany(workers, 'worker')}, report ${report}`);
    },
    subscribers: (name) => runLines(name, options),
    note: (text) => options.quiet || say(text),
    ended(run, fault) {
      done += 1;
      if (fault !== undefined) options.fault(fault);
      if (!options.quiet || run.exit_code !== 0) say(`[${done}/${all}] ${endText(run)}`);
    },
  };
}

function runLines(name: string, options: LinesOptions): ReturnType<BatchWatch['subscribers']> {
  const { events, verbose, color } = options;
  if (!verbose) return () => (events ? [createStreamJson(events)] : []);
  const write = (text: string): void => options.write(text.replaceAll(/^(?=.)/gm, `[${name}] `));
  const progress = { write, verbose, color, quiet: false };
  return watchRun({ progress, ...(events ? { events } : {}) });
}

/** "review: max_turns (exit 4): turn limit reached, 3 turns, $0.01, 3.2 s | review/2026…". */
export function endText(run: ReportRun): string {
  const why = run.exit_code === 0 ? '' : `: ${oneLine(run.message, MESSAGE_SHOWN)}`;
  const used = run.carried
    ? 'not run again'
    : [showMany(run.turns, 'turn'), showUsd(run.cost_usd), showSpan(run.duration_ms)].join(', ');
  const head = `${run.task}: ${run.exit_reason} (exit ${run.exit_code})${why}`;
  return [head, used, ...(run.run_dir === '' ? [] : [run.run_dir])].join(' | ');
}

/** "5 runs: 4 success, 1 failure". */
export function countsText({ totals, not_started, problems }: BatchReport): string {
  const { runs, success, failure, cancelled } = totals;
  const counts = [
    `${showMany(runs, 'run')}: ${showCount(success)} success`,
    ...(failure > 0 ? [`${showCount(failure)} failure`] : []),
    ...(cancelled > 0 ? [`${showCount(cancelled)} cancelled`] : []),
    ...(not_started.length > 0 ? [`${showCount(not_started.length)} not started`] : []),
    ...(problems.length > 0 ? [showMany(problems.length, 'problem')] : []),
  ];
  return counts.join(', ');
}
