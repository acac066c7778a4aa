import { constants } from 'node:os';
import { errorText } from '../core/errors.ts';
import type { AbortCause } from '../core/events.ts';
import type { CancelSignal } from '../core/outcome.ts';

const SIGNALS: readonly CancelSignal[] = ['SIGHUP', 'SIGINT', 'SIGTERM'];

/** The one AbortController of a run: whoever aborts first names the cause, and nothing overwrites it. */
export interface Interrupts {
  readonly signal: AbortSignal;
  /** Aborts when the time for ordinary turns is over. */
  readonly ordinary: AbortSignal;
  abort(cause: AbortCause): void;
  /** Starts the run's clock: `timeout_ms` in all, `spent_ms` of it used before, `reserve_ms` kept back for a conclusion. */
  startDeadline(timeout_ms: number, spent_ms: number, reserve_ms: number): void;
  /** Milliseconds to the deadline; Infinity before the clock is started. */
  remaining(): number;
  /** What still has to be written when a second signal ends the process at once; null: nothing any more. */
  atOnce(write: (() => void) | null): void;
  /** The same for what tells of several runs: written behind all of theirs. */
  behind(write: (() => void) | null): void;
  /** The first fault nobody caught, for the front door to print. */
  fault(): unknown;
  dispose(): void;
}

// What the runs of this process still have to write, whoever hears the signal that ends it.
const unwritten = new Set<() => void>();
const unwrittenBehind = new Set<() => void>();

type EarlySignal = () => CancelSignal | undefined;

/** Listens for signals and for faults that nobody caught; `early` gives the signal that came before. A second one ends the process at once. */
export function listen(early: EarlySignal = () => undefined): Interrupts {
  const interrupts = createInterrupts();
  let fault: unknown;
  const onFault = (error: unknown): void => {
    fault ??= error;
    interrupts.abort({ reason: 'internal_error', detail: errorText(error) });
  };
  process.on('uncaughtException', onFault);
  const stopSignals = onSignals((cause) => interrupts.abort(cause), early);
  return {
    ...interrupts,
    fault: () => fault,
    dispose() {
      interrupts.dispose();
      stopSignals();
      process.off('uncaughtException', onFault);
    },
  };
}

/** Interrupts for a run inside another program: only that program's own signal cancels it, and nothing of the process is touched. */
export function follow(signal?: AbortSignal): Interrupts {
  const interrupts = createInterrupts();
  const cancel = (): void => interrupts.abort({ reason: 'cancelled', signal: 'SIGTERM' });
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  return {
    ...interrupts,
    dispose() {
      interrupts.dispose();
      signal?.removeEventListener('abort', cancel);
    },
  };
}

/** Interrupts of one run among several: what ends them all ends it, with the same cause. */
export function partOf(outer: Interrupts): Interrupts {
  const interrupts = createInterrupts();
  const { signal } = outer;
  const onAbort = (): void => interrupts.abort(signal.reason as AbortCause); // the outer ones abort with nothing else
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    ...interrupts,
    dispose() {
      interrupts.dispose();
      signal.removeEventListener('abort', onAbort);
    },
  };
}

function createInterrupts(): Interrupts {
  const all = new AbortController();
  const ordinary = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  let ends_ms = Infinity;
  const abort = (cause: AbortCause): void => {
    if (!all.signal.aborted) all.abort(cause);
  };
  const atOnce = lastWords(unwritten);
  const behind = lastWords(unwrittenBehind);
  return {
    signal: all.signal,
    ordinary: ordinary.signal,
    abort,
    startDeadline(timeout_ms, spent_ms, reserve_ms) {
      const cause: AbortCause = { reason: 'timeout', limit: timeout_ms, used: timeout_ms };
      const left = timeout_ms - spent_ms;
      ends_ms = Date.now() + left;
      timers.push(setTimeout(() => abort(cause), Math.max(1, left)));
      if (reserve_ms > 0) timers.push(setTimeout(() => ordinary.abort(cause), Math.max(1, left - reserve_ms)));
    },
    remaining: () => ends_ms - Date.now(),
    atOnce,
    behind,
    fault: () => undefined,
    dispose() {
      timers.forEach(clearTimeout);
      atOnce(null);
      behind(null);
    },
  };
}

/** One run's place among what is unwritten. */
function lastWords(all: Set<() => void>): Interrupts['atOnce'] {
  let mine: (() => void) | null = null;
  return (write) => {
    if (mine) all.delete(mine);
    if (write) all.add(write);
    mine = write;
  };
}

/** Hears signals until the returned function is called. */
function onSignals(abort: Interrupts['abort'], early: EarlySignal): () => void {
  let first: CancelSignal | undefined;
  const onSignal = (signal: CancelSignal): void => {
    // The first one leaves a run that is ending already, by its deadline say, the time to end well.
    if (first) {
      for (const write of [...unwritten, ...unwrittenBehind]) write();
      process.exit(128 + constants.signals[first]); // the first cause wins
    }
    first = signal;
    abort({ reason: 'cancelled', signal });
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const before = early();
  if (before) onSignal(before);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}
