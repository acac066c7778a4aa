import type { Clock } from '../core/ports.ts';

/** Calls somebody again and again while nothing else happens. */
export interface Pulse {
  /** Something happened: the waiting begins anew. */
  beat(): void;
  stop(): void;
}

/** Acts after each `every_ms` without a beat, until stopped; it keeps no process alive. */
export function createPulse(clock: Clock, every_ms: number, act: () => void): Pulse {
  let waiting: AbortController | undefined;
  const wait = async (own: AbortController): Promise<void> => {
    for (;;) {
      await clock.sleep(every_ms, own.signal);
      if (own.signal.aborted) return;
      act();
    }
  };
  return {
    beat() {
      waiting?.abort();
      waiting = new AbortController();
      void wait(waiting);
    },
    stop: () => waiting?.abort(),
  };
}
