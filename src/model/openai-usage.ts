import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import { NO_USAGE } from '../core/usage.ts';
import type { Usage } from '../core/usage.ts';

/** Usage of a chat completion in our fields; undefined when it says nothing a request could have cost. */
export function readChatUsage(usage: JsonObject): Usage | undefined {
  const prompt = count(usage['prompt_tokens']);
  const completion = count(usage['completion_tokens']);
  if (prompt === 0 && completion === 0) return undefined;
  const details = isJsonObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
  const cached = Math.min(prompt, count(details['cached_tokens']) || count(usage['prompt_cache_hit_tokens']));
  const written = isJsonObject(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {};
  // Some endpoints count reasoning beside the completion; only the total holds all that is billed.
  const output = Math.max(completion, count(usage['total_tokens']) - prompt);
  return {
    ...NO_USAGE,
    input_tokens: prompt - cached,
    cache_read_input_tokens: cached,
    output_tokens: output,
    thinking_tokens: Math.min(output, count(written['reasoning_tokens'])),
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.ceil(value) : 0;
}
