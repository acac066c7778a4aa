import { isJsonObject, parseJson, stringifyJson } from '../core/json.ts';
import type { ServerToolConfig } from '../core/config.ts';
import type { Message } from '../core/messages.ts';

// The versions that search and fetch directly; later ones run through the service's code execution.
const TYPES = { web_search: 'web_search_20250305', web_fetch: 'web_fetch_20250910' } as const;

/** A tool that the service runs, as its entry in a request's `tools`. */
export function serverToolText(tool: ServerToolConfig): string {
  const { name, ...rest } = tool;
  return stringifyJson({ type: TYPES[name], name, ...rest });
}

/** A call of a server tool in this message has no result yet: the service goes on with it, and takes no words meanwhile. */
export function awaitsService(message: Message | undefined): boolean {
  if (message?.role !== 'assistant') return false;
  const blocks = message.content.flatMap((block) => (block.type === 'opaque' ? [parseJson(block.json)] : []));
  const objects = blocks.flatMap((parsed) => (parsed.ok && isJsonObject(parsed.value) ? [parsed.value] : []));
  const answered = new Set(objects.map((block) => block['tool_use_id']));
  return objects.some(({ type, id }) => type === 'server_tool_use' && !answered.has(id));
}
