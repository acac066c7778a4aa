// The form of usage.json, in the words of its schema.

export const USAGE_VERSION = 1;

/** Billed tokens of a turn or a model; `input_tokens` is the whole prompt, cache writes and reads included. */
export interface TokenCounts {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  thinking_tokens: number;
  /** null: unknown. */
  cost_usd: number | null;
  /** Some of it is our upper estimate, or the last count of a stream that broke. */
  estimated: boolean;
}

/** A request that did not become a reply; what it cost is part of its turn's row. */
export interface LostAttempt extends TokenCounts {
  attempt: number;
  max_attempts: number;
  model: string;
  status: number | null;
  error_type: string | null;
  request_id: string | null;
  wait_ms: number | null;
}

/** Everything a turn was billed, its lost attempts included: the rows add up to the totals. */
export interface TurnUsage extends TokenCounts {
  turn: number;
  /** null: no reply came. */
  model: string | null;
  stop_reason: string | null;
  request_id: string | null;
  duration_ms: number;
  calls: number;
  attempts: LostAttempt[];
}

export interface ModelUsage extends TokenCounts {
  requests: number;
  turns: number;
}

export interface ToolUsage {
  calls: number;
  denied: number;
  failed: number;
  timed_out: number;
  duration_ms: number;
  bytes: number;
}

/** The form of usage.json. */
export interface UsageReport {
  schema_version: number;
  run_id: string;
  total_input_tokens: number;
  total_output_tokens: number;
  last_input_tokens: number;
  total_cache_creation_input_tokens: number;
  total_cache_read_input_tokens: number;
  total_thinking_tokens: number;
  /** Searches by the service, each with a price of its own; absent: none. */
  total_web_search_requests?: number;
  estimated: boolean;
  requests: number;
  retries: number;
  turns: number;
  cost_usd: number | null;
  prices_as_of: string | null;
  duration_ms: number;
  api_duration_ms: number;
  tool_duration_ms: number;
  models: Record<string, ModelUsage>;
  tools: Record<string, ToolUsage>;
  per_turn: TurnUsage[];
}
