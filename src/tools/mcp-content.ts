import { isJsonObject, stringifyJson, type JsonObject, type JsonValue } from '../core/json.ts';
import type { ToolContext, ToolOutput } from '../core/ports.ts';
import { cutResult, errorResult } from './result.ts';

/** A server's answer to a call as a result: its texts, and a note for what is none. */
export function mcpResult(answer: JsonValue, context: ToolContext): ToolOutput {
  if (!isJsonObject(answer)) return errorResult('the server answered with no result');
  const blocks = Array.isArray(answer['content']) ? answer['content'] : [];
  const texts = blocks.map(blockText);
  const structured = answer['structuredContent'];
  // Servers say structured content as text, too; those that do not are heard all the same.
  if (structured !== undefined && !blocks.some(isText)) texts.push(stringifyJson(structured));
  return cutResult(answer['isError'] === true ? 'error' : 'ok', texts.join('\n'), context);
}

function isText(block: JsonValue): block is JsonObject & { text: string } {
  return isJsonObject(block) && block['type'] === 'text' && typeof block['text'] === 'string';
}

function blockText(block: JsonValue): string {
  if (isText(block)) return block.text;
  if (!isJsonObject(block)) return '[a part that cannot be read]';
  switch (block['type']) {
    case 'image':
    case 'audio':
      return `[${block['type']}${kindOf(block)}, not shown]`;
    case 'resource_link':
      return `[resource ${nameOf(block['uri'])}${kindOf(block)}]`;
    case 'resource':
      return resourceText(block['resource']);
    default:
      return `[a part of type ${nameOf(block['type'])}, not shown]`;
  }
}

function resourceText(resource: JsonValue | undefined): string {
  if (!isJsonObject(resource)) return '[a resource that cannot be read]';
  const { uri, text } = resource;
  if (typeof text === 'string') return `[resource ${nameOf(uri)}]\n${text}`;
  return `[resource ${nameOf(uri)}${kindOf(resource)}, not shown]`;
}

function kindOf({ mimeType, data, blob }: JsonObject): string {
  const type = mimeType === undefined ? '' : `, ${nameOf(mimeType)}`;
  const encoded = typeof data === 'string' ? data : blob;
  return typeof encoded === 'string' ? `${type}, about ${Math.floor((encoded.length * 3) / 4)} bytes` : type;
}

/** What stands inside the brackets of a note. */
function nameOf(value: JsonValue | undefined): string {
  return JSON.stringify(typeof value === 'string' ? value.slice(0, 200).toWellFormed() : '?');
}
