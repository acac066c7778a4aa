import { styleText } from 'node:util';
import { logLine } from '../core/sanitise.ts';
import { toolUses } from '../core/messages.ts';
import { createCauses } from './causes.ts';
import { endLines } from './end-line.ts';
import { eventLines } from './progress-lines.ts';
import { createUsageMeter } from './usage-meter.ts';
import type { RunEvent } from '../core/events.ts';
import type { RunOutcome } from '../core/outcome.ts';
import type { Subscriber } from '../core/ports.ts';
import type { Level, Line } from './line.ts';

export interface ProgressOptions {
  /** Takes whole lines, to be written at once. */
  write(text: string): void;
  /** Also says why calls were allowed, and what the model says. */
  verbose: boolean;
  /** Only warnings, errors and the end. */
  quiet: boolean;
  color: boolean;
  /** As people open it: announced at the start, and the place of the cause at the end. */
  transcript: string;
  /** What to type next after an ending; null: nothing. */
  next(outcome: RunOutcome): string | null;
  /** Events of a run that goes on: counted at the end, not told again. */
  earlier?: readonly RunEvent[];
}

const STYLES = { info: null, detail: 'gray', warning: 'yellow', error: 'red', end: 'bold' } as const;

/** Tells people on stderr what happens, a line per event worth one; no text of others can act on a terminal or a CI log. */
export function createProgress(options: ProgressOptions): Subscriber {
  const meter = createUsageMeter();
  const causes = createCauses();
  const inputs = new Map<string, string>();
  const hear = (event: RunEvent): void => {
    meter.onEvent(event);
    causes.note(event);
    keepInputs(inputs, event);
  };
  for (const event of options.earlier ?? []) hear(event);
  return {
    name: 'progress',
    onEvent(event) {
      hear(event);
      const lines =
        event.type === 'run_end'
          ? endLines({ ...event, ...options, line: causes.lineOf(event), usage: meter.report() })
          : eventLines(event, { transcript: options.transcript, inputs });
      for (const line of lines) if (isShown(line.level, options)) options.write(`${styled(line, options.color)}\n`);
    },
  };
}

/** The inputs of the last reply's calls, to show what a call was about. */
function keepInputs(inputs: Map<string, string>, event: RunEvent): void {
  if (event.type !== 'model_reply') return;
  inputs.clear();
  for (const call of toolUses(event.content)) inputs.set(call.id, call.input_json);
}

function isShown(level: Level, { quiet, verbose }: ProgressOptions): boolean {
  if (level === 'detail') return verbose && !quiet;
  return level !== 'info' || !quiet;
}

function styled({ level, text }: Line, color: boolean): string {
  const safe = logLine(text);
  const style = STYLES[level];
  // The caller has decided about colour: newer Node would ask stdout again.
  return color && style ? styleText(style, safe, { validateStream: false }) : safe;
}
