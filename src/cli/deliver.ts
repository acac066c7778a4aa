// The result on stdout, and what happens when nobody takes it.

import type { Format } from '../config/options.ts';
import { isJsonObject } from '../core/json.ts';
import type { AbortCause } from '../core/events.ts';
import { exitCode, type RunOutcome, runStatus } from '../core/outcome.ts';
import { jsonForCi, jsonLine, logLines } from '../core/sanitise.ts';
import { writeAtomically } from '../run/artifacts.ts';
import type { SegmentResult } from '../run/segment.ts';
import { printEnding } from './failure.ts';
import { inActions, type World } from './world.ts';

export interface Delivery {
  format: Format;
  /** Ends the waiting. */
  signal: AbortSignal;
}

/** Writes the result in the format asked for and waits until it is taken; the process's exit code. */
export async function deliver(result: SegmentResult, { format, signal }: Delivery, world: World): Promise<number> {
  world.stdout.write(textFor(result, format, world));
  const taken = await Promise.race([world.stdout.flush(), aborted(signal).then(() => false)]);
  // The first cause wins: a run that failed already keeps its code.
  if (taken || result.exit_code !== 0) return result.exit_code;
  const { outcome, detail } = undelivered(signal);
  recordUndelivered(result, outcome, detail);
  printEnding(world, outcome, {
    message: `${detail}; it stands in ${result.run_dir}`,
    spent: spentText(result.result),
    next: null,
  });
  return exitCode(outcome);
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

function undelivered(signal: AbortSignal): { outcome: RunOutcome; detail: string } {
  if (signal.aborted) {
    const outcome = signal.reason as AbortCause; // interrupts abort with nothing else
    return { outcome, detail: 'cancelled before the whole result was written to stdout' };
  }
  const detail = 'stdout was closed or not read before the whole result was written';
  return { outcome: { reason: 'io_error', detail }, detail };
}

function spentText({ usage, turns }: SegmentResult['result']): string {
  const cost = isJsonObject(usage) && typeof usage['cost_usd'] === 'number' ? `$${usage['cost_usd']}` : 'cost unknown';
  return `${typeof turns === 'number' ? turns : 0} turns, ${cost}`;
}

function textFor(result: SegmentResult, format: Format, world: World): string {
  if (format === 'stream-json') return ''; // every event is out already
  if (format === 'json') return `${jsonLine(result.result)}\n`;
  const { output_text } = result;
  if (output_text === null) return '';
  return `${inActions(world.env) ? safeForActions(output_text) : output_text}\n`;
}

/** A JSON value keeps its value, written with escapes; lines of a text are neutralised. */
function safeForActions(text: string): string {
  try {
    JSON.parse(text);
    return jsonForCi(text);
  } catch {
    // SyntaxError: the output is plain text.
    return logLines(text).join('\n');
  }
}

/** The process code equals that of result.json, so the file must say what became of its delivery. */
function recordUndelivered(result: SegmentResult, outcome: RunOutcome, message: string): void {
  const ending = { status: runStatus(outcome), exit_reason: outcome.reason, exit_code: exitCode(outcome), message };
  const changed = { ...result.result, ...ending };
  try {
    writeAtomically(result.run_dir, 'result.json', `${JSON.stringify(changed, null, 2)}\n`);
  } catch {
    // The folder is gone or full as well; the exit code and the last line still say it.
  }
}
