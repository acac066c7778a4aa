import { headOf } from '../core/graphemes.ts';
import { isJsonObject, stringifyJson, type JsonObject, type JsonValue } from '../core/json.ts';
import type { MediaBlock } from '../core/messages.ts';
import type { ToolContext, ToolOutput } from '../core/ports.ts';
import { mediaBlock, type Shows } from './media.ts';
import { cutResult, errorResult } from './result.ts';

export interface ContentParts {
  context: ToolContext;
  /** What the model can be shown beside text. */
  shows: Shows;
}

/** A server's answer to a call as a result: its texts, then its images and PDFs, and a note for what is neither. */
export function mcpResult(answer: JsonValue, parts: ContentParts): ToolOutput {
  if (!isJsonObject(answer)) return errorResult('the server answered with no result');
  const { content, isError } = answer;
  // Absent it says nothing, as some servers do beside structured content; anything else may have been the answer.
  if (content !== undefined && content !== null && !Array.isArray(content)) return unreadable(content, parts);
  const blocks = content ?? [];
  const media: MediaBlock[] = [];
  const texts = blocks.map((block) => blockText(block, (encoded) => look(encoded, parts, media)));
  const structured = answer['structuredContent'];
  // Servers say structured content as text, too; those that do not are heard all the same.
  if (structured !== undefined && !blocks.some(isText)) texts.push(stringifyJson(structured));
  // A server that says "true" or 1 means no success.
  const failed = isError !== undefined && isError !== null && isError !== false;
  const result = cutResult(failed ? 'error' : 'ok', texts.join('\n'), parts.context);
  return { ...result, content: [...result.content, ...media] };
}

function unreadable(content: JsonValue, { context }: ContentParts): ToolOutput {
  const found = headOf(stringifyJson(content), 200);
  return cutResult('error', `[the server's result cannot be read: its content is no list: ${found}]`, context);
}

/** What stands in the text for data: where it is seen, or why it is not. */
type Look = (encoded: string) => string;

function look(encoded: string, { context, shows }: ContentParts, media: MediaBlock[]): string {
  const bytes = Buffer.from(encoded, 'base64');
  const found = mediaBlock({ bytes, size: bytes.length }, shows, context.redact);
  if (!found) return 'not shown';
  if (!found.ok) return `not shown: ${found.reason}`;
  media.push(found.block);
  return `shown below as number ${media.length}`;
}

function isText(block: JsonValue): block is JsonObject & { text: string } {
  return isJsonObject(block) && block['type'] === 'text' && typeof block['text'] === 'string';
}

function blockText(block: JsonValue, see: Look): string {
  if (isText(block)) return block.text;
  if (!isJsonObject(block)) return '[a part that cannot be read]';
  switch (block['type']) {
    case 'image':
    case 'audio':
      return `[${block['type']}${kindOf(block)}, ${seen(block['data'], see)}]`;
    case 'resource_link':
      return linkText(block);
    case 'resource':
      return resourceText(block['resource'], see);
    default:
      return `[a part of type ${nameOf(block['type'])}, not shown]`;
  }
}

function linkText(block: JsonObject): string {
  const about = ['name', 'description'].flatMap((key) => {
    const text = block[key];
    return typeof text === 'string' && text !== '' ? [`${key} ${nameOf(text)}`] : [];
  });
  return `[resource ${nameOf(block['uri'])}${kindOf(block)}${about.map((part) => `, ${part}`).join('')}]`;
}

function resourceText(resource: JsonValue | undefined, see: Look): string {
  if (!isJsonObject(resource)) return '[a resource that cannot be read]';
  const { uri, text } = resource;
  if (typeof text === 'string') return `[resource ${nameOf(uri)}]\n${text}`;
  return `[resource ${nameOf(uri)}${kindOf(resource)}, ${seen(resource['blob'], see)}]`;
}

function seen(data: JsonValue | undefined, see: Look): string {
  return typeof data === 'string' ? see(data) : 'not shown';
}

function kindOf({ mimeType, data, blob }: JsonObject): string {
  const type = mimeType === undefined ? '' : `, ${nameOf(mimeType)}`;
  const encoded = typeof data === 'string' ? data : blob;
  return typeof encoded === 'string' ? `${type}, about ${Math.floor((encoded.length * 3) / 4)} bytes` : type;
}

/** What stands inside the brackets of a note. */
function nameOf(value: JsonValue | undefined): string {
  return JSON.stringify(typeof value === 'string' ? headOf(value, 200) : '?');
}
