/** Tokens of one reply, as the API counts them. `output_tokens` includes thinking. */
export interface Usage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  /** The part of `cache_creation_input_tokens` written with the one-hour lifetime. */
  cache_creation_1h_input_tokens: number;
  output_tokens: number;
  thinking_tokens: number;
  web_search_requests: number;
  /** True when the service did not say and the numbers are our upper estimate or the last ones seen of a cut stream. */
  estimated?: true;
}

export const NO_USAGE: Usage = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_1h_input_tokens: 0,
  output_tokens: 0,
  thinking_tokens: 0,
  web_search_requests: 0,
};

/** The whole prompt: `input_tokens` alone is only what lies behind the last cache mark. */
export function promptTokens(usage: Usage): number {
  return usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
}

/** Field by field sum; an estimate on either side makes the sum an estimate. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
    cache_creation_1h_input_tokens: a.cache_creation_1h_input_tokens + b.cache_creation_1h_input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    thinking_tokens: a.thinking_tokens + b.thinking_tokens,
    web_search_requests: a.web_search_requests + b.web_search_requests,
    ...(a.estimated || b.estimated ? { estimated: true as const } : {}),
  };
}

/** USD per million tokens. `above` replaces the prices of a request whose whole prompt is larger than its size. */
export interface Prices {
  input: number;
  output: number;
  cache_write: number;
  cache_write_1h?: number;
  cache_read: number;
  above?: {
    prompt_tokens: number;
    input: number;
    output: number;
    cache_write: number;
    cache_write_1h?: number;
    cache_read: number;
  };
}

/** The Claude API's price of one web search. */
export const USD_A_SEARCH = 0.01;

/** USD of one reply, searches by the service included. Null without prices: unknown is never 0. */
export function costUsd(usage: Usage, prices: Prices | null): number | null {
  if (!prices) return null;
  const tier = prices.above && promptTokens(usage) > prices.above.prompt_tokens ? prices.above : prices;
  const write1h = usage.cache_creation_1h_input_tokens;
  const write5m = usage.cache_creation_input_tokens - write1h;
  const perMillion =
    usage.input_tokens * tier.input +
    write5m * tier.cache_write +
    write1h * (tier.cache_write_1h ?? tier.cache_write) +
    usage.cache_read_input_tokens * tier.cache_read +
    usage.output_tokens * tier.output;
  return perMillion / 1_000_000 + usage.web_search_requests * USD_A_SEARCH;
}
