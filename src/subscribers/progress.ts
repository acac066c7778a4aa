import { styleText } from 'node:util';
import { logLine } from '../core/sanitise.ts';
import { toolUses } from '../core/messages.ts';
import { createCauses } from './causes.ts';
import { endLines } from './end-line.ts';
import { createDoing, type Doing } from './doing.ts';
import { eventLines } from './progress-lines.ts';
import { createPulse, type Pulse } from './pulse.ts';
import { createUsageMeter } from './usage-meter.ts';
import type { RunEvent } from '../core/events.ts';
import type { RunOutcome } from '../core/outcome.ts';
import type { Clock, Subscriber } from '../core/ports.ts';
import type { Level, Line } from './line.ts';
import type { LiveArea } from './live-area.ts';

export interface ProgressOptions {
  /** Takes whole lines, to be written at once. */
  write(text: string): void;
  /** Also says why calls were allowed, and what the model says. */
  verbose: boolean;
  /** Only warnings, errors and the end of a run that failed. */
  quiet: boolean;
  color: boolean;
  /** As people open it: announced at the start, and the place of the cause at the end. */
  transcript: string;
  /** What to type next after an ending; null: nothing. */
  next(outcome: RunOutcome): string | null;
  /** Events of a run that goes on: counted at the end, not told again. */
  earlier?: readonly RunEvent[];
  /** Tells when nothing happened for long; absent: nobody is told. */
  clock?: Clock | undefined;
  /** A terminal: one line redrawn in the place of a line for each event. */
  live?: LiveArea | undefined;
}

/** After so long without an event a log says what is waited for, so that no CI system and no person takes the run for dead. */
const HEARTBEAT_MS = 30_000;
/** How often the time of the live line moves. */
const REDRAW_MS = 1000;

const STYLES = { info: null, detail: 'gray', warning: 'yellow', error: 'red', end: 'bold' } as const;

/** Tells people on stderr what happens, a line per event worth one; no text of others can act on a terminal or a CI log. */
export function createProgress(options: ProgressOptions): Subscriber {
  const meter = createUsageMeter();
  const causes = createCauses();
  const doing = createDoing(meter);
  const inputs = new Map<string, string>();
  const { live, clock } = options;
  const hear = (event: RunEvent): void => {
    meter.onEvent(event);
    causes.note(event);
    doing.note(event);
    keepInputs(inputs, event);
  };
  const print = (text: string): void => (live ? live.print(text) : options.write(text));
  const pulse = clock && pulseOf(options, doing, clock);
  for (const event of options.earlier ?? []) hear(event);
  return {
    name: 'progress',
    onEvent(event) {
      hear(event);
      if (event.type === 'run_end') live?.clear();
      const lines =
        event.type === 'run_end'
          ? endLines({ ...event, ...options, line: causes.lineOf(event), usage: meter.report() })
          : eventLines(event, { transcript: options.transcript, inputs });
      const shown = lines.filter(({ level }) => isShown(level, event, options));
      for (const line of shown) print(`${styled(line, options.color)}\n`);
      if (event.type === 'run_end') return pulse?.stop();
      if (live && clock) live.draw([liveLine(doing, clock)]);
      pulse?.beat();
    },
  };
}

/** What is told while nothing happens: on a terminal the passing of time, in a log every half minute what is waited for. */
function pulseOf(options: ProgressOptions, doing: Doing, clock: Clock): Pulse | undefined {
  const { live, quiet } = options;
  if (live) return createPulse(clock, REDRAW_MS, () => live.draw([liveLine(doing, clock)]));
  if (quiet) return undefined;
  return createPulse(clock, HEARTBEAT_MS, () => {
    const now_ms = clock.now();
    options.write(`${logLine(`still at work: ${doing.now(now_ms)}; ${doing.left(now_ms)}`)}\n`);
  });
}

function liveLine(doing: Doing, clock: Clock): string {
  const now_ms = clock.now();
  const parts = [doing.now(now_ms), doing.spent(), doing.left(now_ms)];
  return logLine(parts.filter((part) => part !== '').join(' | '));
}

/** The inputs of the last reply's calls, to show what a call was about. */
function keepInputs(inputs: Map<string, string>, event: RunEvent): void {
  if (event.type !== 'model_reply') return;
  inputs.clear();
  for (const call of toolUses(event.content)) inputs.set(call.id, call.input_json);
}

function isShown(level: Level, { type }: RunEvent, { quiet, verbose, live }: ProgressOptions): boolean {
  if (level === 'warning' || level === 'error') return true;
  if (quiet) return false;
  if (level === 'detail') return verbose;
  // The live line tells of all that comes between the start and the end.
  return level === 'end' || !live || type === 'run_start' || type === 'run_resume';
}

function styled({ level, text }: Line, color: boolean): string {
  const safe = logLine(text);
  const style = STYLES[level];
  // The caller has decided about colour: newer Node would ask stdout again.
  return color && style ? styleText(style, safe, { validateStream: false }) : safe;
}
