import { isJsonObject, parseJson } from '../core/json.ts';
import type { AssistantBlock } from '../core/messages.ts';

/** What the model had the service do in a reply, one text each: `web_search {"query":"…"}`, and why it failed if it did. */
export function serverCalls(content: readonly AssistantBlock[]): string[] {
  return content.flatMap((block) => {
    const parsed = block.type === 'opaque' ? parseJson(block.json) : undefined;
    if (!parsed?.ok || !isJsonObject(parsed.value)) return [];
    const { type, name, input, content: result } = parsed.value;
    if (type === 'server_tool_use') return [`${named(name)} ${JSON.stringify(input)} by the service`];
    const code = isJsonObject(result) ? result['error_code'] : undefined;
    return typeof code === 'string' ? [`${named(type)}: error ${code}`] : [];
  });
}

function named(value: unknown): string {
  return typeof value === 'string' ? value : 'a tool';
}
