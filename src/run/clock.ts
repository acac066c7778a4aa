import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../core/ports.ts';

/** The machine's own time. */
export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    try {
      await wait(ms, undefined, signal ? { signal, ref: false } : { ref: false });
    } catch {
      // AbortError: an aborted sleep is simply over.
    }
  },
};
