import type { LimitHit } from './outcome.ts';
import type { Usage } from './usage.ts';

/** What a run has used so far; reduced from the journal. */
export interface Ledger {
  turns: number;
  requests: number;
  retries: number;
  total: Usage;
  last_input_tokens: number;
  /** Usage of the last reply, to know what the next request costs at least. */
  last: Usage | null;
  /** null as soon as one cost was unknown. */
  cost_usd: number | null;
  tool_calls: number;
  denials: number;
  started_ms: number;
  now_ms: number;
}

export interface Room {
  max_tokens: number;
  clamped_by?: LimitHit['reason'];
}

export interface Budget {
  /** The first limit that forbids another request; `concluding` releases what is kept back for the conclusion. */
  exceeded(ledger: Ledger, concluding: boolean): LimitHit | undefined;
  /** `wanted` output tokens clamped to what is left. */
  room(ledger: Ledger, wanted: number, concluding: boolean): Room;
  /** Milliseconds an ordinary step may still take, or with `concluding` the run. */
  remainingMs(ledger: Ledger, concluding: boolean): number;
}
