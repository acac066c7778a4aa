import type { Clock } from '../../src/core/ports.ts';

/** A clock that moves when a test says so. */
export interface HandClock extends Clock {
  /** Lets time pass; whoever sleeps meanwhile wakes in order. */
  pass(ms: number): Promise<void>;
}

export function handClock(now_ms = 0): HandClock {
  let now = now_ms;
  const sleepers = new Set<{ until: number; wake: () => void }>();
  return {
    now: () => now,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        const sleeper = { until: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          resolve();
        });
      });
    },
    async pass(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...sleepers]
          .filter(({ until }) => until <= end)
          .toSorted((one, other) => one.until - other.until);
        if (!next) break;
        now = next.until;
        sleepers.delete(next);
        next.wake();
        await new Promise((resolve) => setImmediate(resolve));
      }
      now = end;
    },
  };
}
