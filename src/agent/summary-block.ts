import { isJsonObject, parseJson } from '../core/json.ts';
import type { AssistantBlock, StopReason } from '../core/messages.ts';

/** The service's signed summary in its answer; undefined when it gave none: a block without content is one that failed. */
export function summaryBlock(answer: {
  stop_reason: StopReason;
  content: readonly AssistantBlock[];
}): AssistantBlock | undefined {
  return answer.stop_reason === 'compaction' ? answer.content.find(isSummary) : undefined;
}

function isSummary(block: AssistantBlock): boolean {
  const parsed = block.type === 'opaque' ? parseJson(block.json) : undefined;
  if (!parsed?.ok || !isJsonObject(parsed.value)) return false;
  const { type, content } = parsed.value;
  return type === 'compaction' && typeof content === 'string' && content !== '';
}
