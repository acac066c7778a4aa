// What a batch says to people: a line when it begins, one for each run that ended, and warnings of the runs between.

import { showCount, showMany, showSpan, showUsd } from '../core/figures.ts';
import { columnsOf, padColumns } from '../core/graphemes.ts';
import { logLine } from '../core/sanitise.ts';
import { watchRun } from '../run/watchers.ts';
import { createDoing, type Doing } from '../subscribers/doing.ts';
import { fitColumns, type LiveArea } from '../subscribers/live-area.ts';
import { oneLine } from '../subscribers/one-line.ts';
import { createPulse, type Pulse } from '../subscribers/pulse.ts';
import { createUsageMeter } from '../subscribers/usage-meter.ts';
import type { Clock, Subscriber } from '../core/ports.ts';
import type { ReportRun, BatchReport } from './report.ts';
import type { BatchWatch } from './state.ts';

export interface LinesOptions {
  /** Takes whole lines. */
  write(text: string): void;
  quiet: boolean;
  verbose: boolean;
  color: boolean;
  clock: Clock;
  /** A terminal: a table of what runs is redrawn below the lines. */
  live?: LiveArea | undefined;
  /** Takes one event a line; absent: nobody wants them. */
  events?: (line: string) => void;
  /** Told what a bug came from. */
  fault(error: unknown): void;
}

const MESSAGE_SHOWN = 300;
/** What to mend, and the nearest valid name, stand at the end of a mistake's message. */
const MISTAKE_SHOWN = 3000;
const HEARTBEAT_MS = 30_000;
const REDRAW_MS = 1000;
const TABLE_ROWS = 12;

/** Plain lines, each naming its run; on a terminal also a table of what runs. */
export function watchLines(options: LinesOptions): BatchWatch {
  const { live, quiet } = options;
  const tally: Tally = { all: 0, done: 0, failed: 0, cost_usd: 0, at_work: new Map() };
  const { say, pulse, draw } = speaker(options, tally);
  const warned = new Set<string>();
  return {
    begin({ runs, workers, problems, report }) {
      tally.all = runs;
      for (const problem of problems) say(`error: ${problem}`);
      if (!quiet) say(`batch: ${showMany(runs, 'run')}, ${showMany(workers, 'worker')}, report ${report}`);
      pulse.beat();
    },
    subscribers: (name) => (place) => [
      follower(tally.at_work, name, draw),
      ...runLines(name, options, warnOnce(name, say, warned))(place),
    ],
    note: (text) => quiet || say(text),
    ended(run, fault) {
      count(tally, run);
      if (fault !== undefined) options.fault(fault);
      if (!quiet || run.exit_code !== 0) say(`[${tally.done}/${tally.all}] ${endText(run)}`);
      draw();
    },
    end() {
      pulse.stop();
      live?.clear();
    },
  };
}

/** Beyond this many different warnings each is told. */
const MOST_REMEMBERED = 1000;

function warnOnce(name: string, say: (text: string) => void, warned: Set<string>): (text: string) => void {
  return (text) => {
    if (warned.has(text)) return;
    if (warned.size < MOST_REMEMBERED) warned.add(text);
    say(`[${name}] ${text}`);
  };
}

function count(tally: Tally, { task, exit_code, cost_usd }: ReportRun): void {
  tally.done += 1;
  tally.at_work.delete(task);
  if (exit_code !== 0) tally.failed += 1;
  if (tally.cost_usd !== null) tally.cost_usd = cost_usd === null ? null : tally.cost_usd + cost_usd;
}

/** Says lines, redraws the table, and speaks up when neither happens for long. */
function speaker(options: LinesOptions, tally: Tally): { say: (text: string) => void; pulse: Pulse; draw: () => void } {
  const { live, quiet, clock } = options;
  const say = (text: string): void => {
    if (live) live.print(`${logLine(text)}\n`);
    else options.write(`${logLine(text)}\n`);
  };
  const pulse = createPulse(clock, live ? REDRAW_MS : HEARTBEAT_MS, () => {
    if (live) live.draw(tableLines(tally, clock.now()));
    else if (!quiet) say(waitingText(tally, clock.now()));
  });
  const draw = (): void => {
    pulse.beat();
    live?.draw(tableLines(tally, clock.now()));
  };
  return { say, pulse, draw };
}

interface Tally {
  all: number;
  done: number;
  failed: number;
  /** null as soon as one is not known. */
  cost_usd: number | null;
  /** What each run does that has begun, by its name. */
  at_work: Map<string, Doing>;
}

/** Follows one run for the table. */
function follower(at_work: Tally['at_work'], name: string, heard: () => void): Subscriber {
  const meter = createUsageMeter();
  const doing = createDoing(meter);
  return {
    name: 'batch-table',
    onEvent(event) {
      meter.onEvent(event);
      doing.note(event);
      if (event.type === 'run_end') at_work.delete(name);
      else at_work.set(name, doing);
      heard();
    },
  };
}

/** A row for each run at work, names in a column, and the sums below. */
function tableLines(tally: Tally, now_ms: number): string[] {
  const rows = [...tally.at_work];
  const shown = rows.slice(0, TABLE_ROWS);
  const width = Math.min(32, Math.max(0, ...shown.map(([name]) => columnsOf(name))));
  return [
    ...shown.map(([name, doing]) =>
      logLine(`  ${padColumns(fitColumns(name, width), width)}  ${doing.now(now_ms)} | ${doing.spent()}`),
    ),
    ...(rows.length > shown.length ? [`  and ${rows.length - shown.length} more`] : []),
    sumText(tally),
  ];
}

function sumText({ all, done, failed, cost_usd, at_work }: Tally): string {
  const parts = [`${done}/${all} done`, ...(failed > 0 ? [`${failed} failed`] : []), `${at_work.size} at work`];
  return `${parts.join(', ')} | ${showUsd(cost_usd)}`;
}

function waitingText(tally: Tally, now_ms: number): string {
  const [first, ...more] = [...tally.at_work];
  const example = first ? `; ${first[0]}: ${first[1].now(now_ms)}` : '';
  return `still at work: ${sumText(tally)}${example}${more.length > 0 ? ` and ${more.length} more` : ''}`;
}

/** With --verbose all that a run says, each line with its name; else its warnings, one that many runs share only once. */
function runLines(
  name: string,
  options: LinesOptions,
  warn: (text: string) => void,
): ReturnType<BatchWatch['subscribers']> {
  const { events, verbose, color } = options;
  const write = verbose
    ? (text: string): void => options.write(text.replaceAll(/^(?=.)/gm, `[${name}] `))
    : (text: string): void => warn(text.trimEnd());
  const watch = watchRun({
    progress: { write, verbose, color: color && verbose, quiet: !verbose },
    ...(events ? { events } : {}),
  });
  // The batch tells the end of each run itself.
  return (place) =>
    watch(place).map((subscriber) => (subscriber.name === 'progress' ? withoutEnd(subscriber) : subscriber));
}

function withoutEnd(subscriber: Subscriber): Subscriber {
  return { name: subscriber.name, onEvent: (event) => event.type === 'run_end' || subscriber.onEvent(event) };
}

/** "review: max_turns (exit 4): turn limit reached, 3 turns, $0.01, 3.2 s | review/2026…". */
export function endText(run: ReportRun): string {
  const longest = run.exit_code === 2 ? MISTAKE_SHOWN : MESSAGE_SHOWN;
  const why = run.exit_code === 0 ? '' : `: ${oneLine(run.message, longest)}`;
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
