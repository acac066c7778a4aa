import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';

/** Place of a matching line: index of its text, and of the line in it. */
export type Hit = readonly [text: number, line: number];

export type LineMatch = { ok: true; hits: Hit[] } | { ok: false; reason: 'too_slow' | 'timed_out' | 'cancelled' };

/** Applies one regular expression to batches of texts. */
export interface LineMatcher {
  /** The first `limit` matching lines; with `whole` a text counts as one line. */
  match(texts: readonly string[], options: { limit: number; whole?: boolean }): Promise<LineMatch>;
  close(): Promise<void>;
}

/** A batch may take this long, and more by its length: a pattern that needs more would need for ever. */
const STEP_MS = 1500;
const CHARACTERS_PER_MS = 20_000;

// A text instead of a file, because a bundle has no file of its own for a worker.
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const pattern = new RegExp(workerData.source, workerData.flags);
const trim = (line) => (line.endsWith('\\r') ? line.slice(0, -1) : line);
parentPort.on('message', ({ texts, limit, whole }) => {
  const hits = [];
  for (let text = 0; text < texts.length && hits.length < limit; text += 1) {
    const lines = whole ? [texts[text]] : texts[text].split('\\n').map(trim);
    if (!whole && lines.at(-1) === '') lines.pop();
    for (let line = 0; line < lines.length && hits.length < limit; line += 1) {
      if (pattern.test(lines[line])) hits.push([text, line]);
    }
  }
  parentPort.postMessage(hits);
});
`;

/** Lends a matcher to `use` and ends its thread afterwards. */
export async function useMatcher<T>(
  pattern: RegExp,
  signal: AbortSignal,
  use: (matcher: LineMatcher) => Promise<T>,
): Promise<T> {
  const threads = await import('node:worker_threads'); // only here, for those who search
  const matcher = startLineMatcher(pattern, signal, threads.Worker);
  try {
    return await use(matcher);
  } finally {
    await matcher.close();
  }
}

/** Starts a thread for a pattern of the model's: JavaScript's engine can backtrack without end and only a thread can be stopped. */
function startLineMatcher(pattern: RegExp, signal: AbortSignal, Thread: typeof Worker): LineMatcher {
  const workerData = { source: pattern.source, flags: pattern.flags.replace(/[gy]/g, '') };
  const limits = { maxOldGenerationSizeMb: 256 };
  const worker = new Thread(WORKER, { eval: true, workerData, env: {}, execArgv: [], resourceLimits: limits });
  return {
    async match(texts, options) {
      if (signal.aborted) return { ok: false, reason: signalEnd(signal) };
      const characters = texts.reduce((sum, text) => sum + text.length, 0);
      const step = AbortSignal.any([signal, AbortSignal.timeout(STEP_MS + Math.ceil(characters / CHARACTERS_PER_MS))]);
      const reply = once(worker, 'message', { signal: step });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin, a window has
      worker.postMessage({ texts, ...options });
      try {
        const [hits] = (await reply) as [Hit[]]; // the worker above posts nothing else
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
