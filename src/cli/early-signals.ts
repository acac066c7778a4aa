// Signals that come while the program is still loading, for the run that is about to begin to take over.

import { constants } from 'node:os';
import process from 'node:process';
import type { CancelSignal } from '../core/outcome.ts';

const SIGNALS: readonly CancelSignal[] = ['SIGHUP', 'SIGINT', 'SIGTERM'];
/** What is not a run by then ends as it would have without us. */
const LONGEST_WAIT_MS = 1000;

let first: CancelSignal | undefined;
let timer: NodeJS.Timeout | undefined;

/** From now a signal waits for a run that can end with a result; a second one ends the process at once. */
export function holdSignals(): void {
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

/** Gives signals back to their default, or to who listens by now; the answer is the one that came meanwhile. */
export function takeSignal(): CancelSignal | undefined {
  for (const signal of SIGNALS) process.off(signal, onSignal);
  clearTimeout(timer);
  return first;
}

/** The same for what is no run: a signal that came ends it. */
export function passSignals(): void {
  const signal = takeSignal();
  if (signal) endBy(signal);
}

function onSignal(signal: CancelSignal): void {
  if (first) endBy(signal);
  first = signal;
  timer = setTimeout(endBy, LONGEST_WAIT_MS, signal);
}

function endBy(signal: CancelSignal): never {
  return process.exit(128 + constants.signals[signal]);
}
