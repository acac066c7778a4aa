import { isJsonObject } from '../core/json.ts';
import { countedBytes } from '../core/media.ts';
import type { Message } from '../core/messages.ts';
import { addUsage } from '../core/usage.ts';
import type { Usage } from '../core/usage.ts';

/** Usage as the service writes it, fields of later events over those of earlier ones. */
export type SeenUsage = Record<string, unknown>;

// Far above what a tokenizer makes of any text we send or read, so a budget never trusts too low a number.
const BYTES_PER_TOKEN = 2;

/** What a request of these bytes is estimated by: its images and documents count as services count them. */
export function estimatedBytes(body: Uint8Array, messages: readonly Message[]): number {
  return countedBytes(body.length, messages, BYTES_PER_TOKEN);
}

/** Takes over what a later event says: its numbers are cumulative, so they replace; null says nothing. */
export function mergeUsage(seen: SeenUsage, update: unknown): SeenUsage {
  if (!isJsonObject(update)) return seen;
  const said = Object.entries(update).filter(([, value]) => value !== null);
  return { ...seen, ...Object.fromEntries(said) };
}

/** The service's usage in our fields; what is missing counts 0. What summing up a history cost stands apart and is added. */
export function readUsage(seen: SeenUsage): Usage {
  const iterations = Array.isArray(seen['iterations']) ? seen['iterations'].filter(isSummary) : [];
  return iterations.map(ownUsage).reduce(addUsage, ownUsage(seen));
}

function isSummary(iteration: unknown): iteration is SeenUsage {
  return isJsonObject(iteration) && iteration['type'] === 'compaction';
}

function ownUsage(seen: SeenUsage): Usage {
  const created = count(seen['cache_creation_input_tokens']);
  return {
    input_tokens: count(seen['input_tokens']),
    cache_creation_input_tokens: created,
    cache_read_input_tokens: count(seen['cache_read_input_tokens']),
    cache_creation_1h_input_tokens: Math.min(created, inner(seen['cache_creation'], 'ephemeral_1h_input_tokens')),
    output_tokens: count(seen['output_tokens']),
    thinking_tokens: inner(seen['output_tokens_details'], 'thinking_tokens'),
    web_search_requests: inner(seen['server_tool_use'], 'web_search_requests'),
  };
}

/** Upper estimate for a request that may be billed though nobody said how much. */
export function estimateUsage(request_bytes: number, reply_bytes: number): Usage {
  return {
    ...readUsage({
      input_tokens: Math.ceil(request_bytes / BYTES_PER_TOKEN),
      output_tokens: Math.ceil(reply_bytes / BYTES_PER_TOKEN),
    }),
    estimated: true,
  };
}

function inner(value: unknown, field: string): number {
  return isJsonObject(value) ? count(value[field]) : 0;
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.ceil(value) : 0;
}
