import { promptTokens } from '../core/usage.ts';
import type { ModelReplyEvent } from '../core/events.ts';
import type { RunState } from './state.ts';

/** The largest of the models' minima below which a service caches nothing. */
const LARGEST_MINIMUM_TOKENS = 4096;
/** How long the history stays cached after a request that used it. */
const LIFETIME_MS = 5 * 60_000;

/** Why the cache gave less than it should have; undefined when it did its work, or could not have. */
export function missOf({ ledger, cached_ms }: RunState, event: ModelReplyEvent, asked_ms: number): string | undefined {
  const { cache_miss_reason: reason, usage } = event;
  if (reason?.endsWith('_changed')) return reason;
  const before = ledger.last ? promptTokens(ledger.last) : 0;
  const cached = before >= LARGEST_MINIMUM_TOKENS && asked_ms - cached_ms < LIFETIME_MS;
  return cached && usage.cache_read_input_tokens === 0 ? 'nothing_read' : undefined;
}
