import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export type LineMatch = { ok: true; hits: number[] } | { ok: false; reason: 'too_slow' | 'timed_out' | 'cancelled' };

/** Applies one regular expression to batches of lines. */
export interface LineMatcher {
  /** Indexes of the first `limit` matching lines. */
  match(lines: readonly string[], limit: number): Promise<LineMatch>;
  close(): Promise<void>;
}

/** One batch may take this long: a pattern that needs more would need for ever. */
const STEP_MS = 1500;

// A text instead of a file, because a bundle has no file of its own for a worker.
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const pattern = new RegExp(workerData.source, workerData.flags);
parentPort.on('message', ({ lines, limit }) => {
  const hits = [];
  for (let at = 0; at < lines.length && hits.length < limit; at += 1) if (pattern.test(lines[at])) hits.push(at);
  parentPort.postMessage(hits);
});
`;

/** Lends a matcher to `use` and ends its thread afterwards. */
export async function useMatcher<T>(
  pattern: RegExp,
  signal: AbortSignal,
  use: (matcher: LineMatcher) => Promise<T>,
): Promise<T> {
  const matcher = startLineMatcher(pattern, signal);
  try {
    return await use(matcher);
  } finally {
    await matcher.close();
  }
}

/** Starts a thread for a pattern of the model's: JavaScript's engine can backtrack without end and only a thread can be stopped. */
function startLineMatcher(pattern: RegExp, signal: AbortSignal): LineMatcher {
  const workerData = { source: pattern.source, flags: pattern.flags.replace(/[gy]/g, '') };
  const limits = { maxOldGenerationSizeMb: 256 };
  const worker = new Worker(WORKER, { eval: true, workerData, env: {}, execArgv: [], resourceLimits: limits });
  return {
    async match(lines, limit) {
      if (signal.aborted) return { ok: false, reason: signalEnd(signal) };
      const step = AbortSignal.any([signal, AbortSignal.timeout(STEP_MS)]);
      const reply = once(worker, 'message', { signal: step });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin, a window has
      worker.postMessage({ lines, limit });
      try {
        const [hits] = (await reply) as [number[]]; // the worker above posts nothing else
        return { ok: true, hits };
      } catch (error) {
        // AbortError of either signal; anything else is a fault of the worker itself.
        if (!step.aborted) throw error;
        await worker.terminate();
        return { ok: false, reason: signal.aborted ? signalEnd(signal) : 'too_slow' };
      }
    },
    close: async () => void (await worker.terminate()),
  };
}

/** Whether a call's own time is over or the run is ending. */
export function signalEnd(signal: AbortSignal): 'timed_out' | 'cancelled' {
  const reason: unknown = signal.reason;
  return reason instanceof Error && reason.name === 'TimeoutError' ? 'timed_out' : 'cancelled';
}
