import { jsonLine } from '../core/sanitise.ts';
import type { Subscriber } from '../core/ports.ts';

/** Hands over each event as one line of JSON, the same value as the transcript's line. */
export function createStreamJson(write: (line: string) => void): Subscriber {
  return { name: 'stream-json', onEvent: (event) => write(`${jsonLine(event)}\n`) };
}
