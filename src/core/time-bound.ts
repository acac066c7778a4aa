import { createContext, Script } from 'node:vm';

// Patterns and schemas come from files and models; one of them can keep a thread busy for years. The engine's own
// watchdog ends such work from outside, which no timer on this thread could.

const holder: { work?: (() => void) | undefined } = {};
let watched: { script: Script; context: ReturnType<typeof createContext> } | undefined;

export type InTime<T> = { ok: true; value: T } | { ok: false };

/** Runs synchronous work and gives up after `limit_ms`; what the work throws is passed on. Costs 0.1 ms. */
export function withinTime<T>(limit_ms: number, work: () => T): InTime<T> {
  watched ??= { script: new Script('work()'), context: createContext(holder) };
  const outer = holder.work;
  let result: InTime<T> = { ok: false };
  holder.work = () => {
    result = { ok: true, value: work() };
  };
  try {
    watched.script.runInContext(watched.context, { timeout: limit_ms });
  } catch (error) {
    if (!isTimeout(error)) throw error;
  } finally {
    holder.work = outer;
  }
  return result;
}

// The error belongs to the other context, so it is no instance of our Error.
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
