import { promptTokens } from '../core/usage.ts';
import type { Limits } from '../core/config.ts';
import type { LimitHit } from '../core/outcome.ts';
import type { Ledger } from '../core/ports.ts';
import type { Prices } from '../core/usage.ts';

/** One limit: its value, what is used, and what one more request uses at least; all in the limit's own unit. */
export interface Limit {
  reason: LimitHit['reason'];
  limit: number;
  used(ledger: Ledger): number;
  /** The known size of the next request: history only grows, so it costs at least what the last prompt did. */
  next(ledger: Ledger): number;
  /** Kept back for the conclusion, besides the next request itself. */
  reserve(ledger: Ledger): number;
}

/** A reply of less is no answer; the least that is left for one. */
const MIN_OUTPUT_TOKENS = 1;
/** The share of an output budget that is kept back for the conclusion. */
const RESERVE_SHARE = 0.1;
/** The time kept back is at most this (contract, section 3). */
const RESERVE_MS = 60_000;

/** The run's limits that are set, in the order in which they are named when several are reached at once. */
export function activeLimits(limits: Limits, prices: Prices | null): Limit[] {
  const known = (reason: LimitHit['reason'], limit: number | null, rest: Omit<Limit, 'reason' | 'limit'>): Limit[] =>
    limit === null ? [] : [{ reason, limit, ...rest }];
  return [
    ...known('max_turns', limits.max_turns, { used: (l) => l.turns, next: () => 1, reserve: () => 1 }),
    ...known('max_input_tokens', limits.max_input_tokens, inputTokens()),
    ...known('max_output_tokens', limits.max_output_tokens, outputTokens(limits.max_output_tokens)),
    ...known('max_total_tokens', limits.max_total_tokens, totalTokens(limits.max_total_tokens)),
    ...known('max_cost', limits.max_cost_usd, cost(limits.max_cost_usd, prices)),
    // A call over the limit was answered with an error and counted; up to the limit nothing is wrong.
    ...known('max_tool_calls', limits.max_tool_calls, { used: (l) => l.tool_calls, next: () => 0, reserve: () => 0 }),
    {
      reason: 'timeout',
      limit: limits.timeout_ms,
      used: (l) => l.now_ms - l.started_ms,
      next: () => 1,
      reserve: () => timeReserve(limits.timeout_ms),
    },
  ];
}

/** Milliseconds kept back for the conclusion. */
export function timeReserve(timeout_ms: number): number {
  return Math.min(RESERVE_MS, Math.round(timeout_ms * RESERVE_SHARE));
}

function inputTokens(): Omit<Limit, 'reason' | 'limit'> {
  return {
    used: (l) => promptTokens(l.total),
    next: (l) => l.last_input_tokens,
    reserve: (l) => l.last_input_tokens,
  };
}

function outputTokens(limit: number | null): Omit<Limit, 'reason' | 'limit'> {
  return {
    used: (l) => l.total.output_tokens,
    next: () => MIN_OUTPUT_TOKENS,
    reserve: () => outputReserve(limit),
  };
}

function totalTokens(limit: number | null): Omit<Limit, 'reason' | 'limit'> {
  return {
    used: (l) => promptTokens(l.total) + l.total.output_tokens,
    next: (l) => l.last_input_tokens + MIN_OUTPUT_TOKENS,
    reserve: (l) => l.last_input_tokens + outputReserve(limit),
  };
}

/** At least what the last prompt costs when every token of it comes from the cache. */
function cost(limit: number | null, prices: Prices | null): Omit<Limit, 'reason' | 'limit'> {
  const request = (l: Ledger): number => (prices ? (l.last_input_tokens * prices.cache_read) / 1e6 : 0);
  return {
    used: (l) => l.cost_usd ?? Infinity,
    next: (l) => request(l) + ((prices?.output ?? 0) * MIN_OUTPUT_TOKENS) / 1e6,
    reserve: (l) => request(l) + (limit ?? 0) * RESERVE_SHARE,
  };
}

function outputReserve(limit: number | null): number {
  return Math.max(MIN_OUTPUT_TOKENS, Math.floor((limit ?? 0) * RESERVE_SHARE));
}
