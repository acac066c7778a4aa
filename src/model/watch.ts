import { MAX_TIMER_MS } from '../core/measures.ts';

/** What ended an attempt from our side. */
export type StopCause = 'aborted' | 'idle' | 'deadline';

/** Watches one attempt: its signal aborts when the run stops, nothing arrives for too long, or the time is over. */
export interface Watch {
  readonly signal: AbortSignal;
  /** The first cause, if any. */
  cause(): StopCause | undefined;
  /** Something arrived. */
  alive(): void;
  /** Ends the watching; with `abandon` also the connection. */
  end(abandon: boolean): void;
}

export function watchAttempt(outer: AbortSignal, idle_ms: number, left_ms: number): Watch {
  const controller = new AbortController();
  let first: StopCause | undefined;
  const stop = (cause: StopCause): void => {
    first ??= cause;
    controller.abort();
  };
  const onAbort = (): void => stop('aborted');
  if (outer.aborted) onAbort();
  outer.addEventListener('abort', onAbort, { once: true });
  const idle = setTimeout(() => stop('idle'), Math.min(idle_ms, MAX_TIMER_MS));
  const over = setTimeout(() => stop('deadline'), Math.min(Math.max(0, left_ms), MAX_TIMER_MS));
  return {
    signal: controller.signal,
    cause: () => first,
    alive: () => void idle.refresh(),
    end(abandon) {
      clearTimeout(idle);
      clearTimeout(over);
      outer.removeEventListener('abort', onAbort);
      if (abandon) controller.abort();
    },
  };
}
