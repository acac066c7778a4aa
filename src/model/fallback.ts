import type { ModelClient, SendResult } from '../core/ports.ts';

/**
 * Asks the clients in order until one replies, and stays with that one: a model that failed after all its retries would
 * cost as long again in every turn. The reply names the model that gave it.
 */
export function withFallback(clients: readonly [ModelClient, ...ModelClient[]]): ModelClient {
  const [first] = clients;
  let current = 0;
  // A budget in USD can only be kept when every model that may answer has a price.
  const priced = clients.every(({ prices }) => prices !== null);
  return {
    id: first.id,
    prices: priced ? first.prices : null,
    prices_as_of: priced ? first.prices_as_of : null,
    max_output_tokens: first.max_output_tokens,
    context_tokens: first.context_tokens,
    // Whoever answers next must take the summary.
    summarizes: clients.every(({ summarizes }) => summarizes === true),
    diagnoses_cache: clients.every(({ diagnoses_cache }) => diagnoses_cache === true),
    async send(request, hooks, signal) {
      for (;;) {
        const result = await (clients[current] ?? first).send(request, hooks, signal);
        if (request.summarize || !mayFallBack(result) || current + 1 >= clients.length || signal.aborted) return result;
        const hit = hooks.admit();
        if (hit) return { ok: false, kind: 'budget', message: 'no attempt with the next model fits the budget', hit };
        current += 1;
      }
    },
  };
}

function mayFallBack(result: SendResult): boolean {
  return !result.ok && (result.kind === 'api_error' || result.kind === 'rate_limited');
}
