import { isJsonObject, stringifyJson } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import type {
  AssistantBlock,
  AssistantMessage,
  ImageBlock,
  Message,
  ResultContent,
  ResultText,
  ToolDefinition,
  ToolResultBlock,
  UserMessage,
} from '../core/messages.ts';
import { textOf, toolUses } from '../core/messages.ts';
import type { ModelRequest } from '../core/ports.ts';
import type { Dialect } from './openai-dialect.ts';
import { sendableInput } from './request-body.ts';
import { strictCopy } from './strict-schema.ts';

/** What stays the same in every request of a client. */
export interface ChatShape {
  model: string;
  effort?: string;
}

const EMPTY_RESULT = '(no output)';
const IMAGE_RESULT = '(an image, which follows below)';
const UNSEEN_IMAGE = '(an image, which this model cannot be shown)';
const UNSEEN_PDF = '(a PDF, which this model cannot be shown)';
const SCHEMA_NOTE = 'When you give the final answer, give it as JSON only, valid against this schema:';

/** A request as an endpoint of this dialect takes it, as JSON text. */
export function chatBody(shape: ChatShape, request: ModelRequest, dialect: Dialect): string {
  const { tools, messages, max_tokens, output_schema } = request;
  const body = {
    model: shape.model,
    messages: [
      ...systemMessages(request, dialect),
      ...messages.flatMap((message) => chatMessages(message, shape, dialect)),
    ],
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => chatTool(tool, dialect.strict)) }),
    ...(output_schema === undefined || !dialect.response_format
      ? {}
      : { response_format: { type: 'json_schema', json_schema: outputFormat(output_schema, dialect.strict) } }),
    ...(shape.effort === undefined ? {} : { reasoning_effort: shape.effort }),
    [dialect.max_tokens]: max_tokens,
    stream: true,
    ...(dialect.stream_options ? { stream_options: { include_usage: true } } : {}),
  };
  return stringifyJson(body);
}

function systemMessages({ system, output_schema }: ModelRequest, dialect: Dialect): JsonObject[] {
  const told = output_schema === undefined || dialect.response_format;
  const content = told ? system : `${system}\n\n${SCHEMA_NOTE}\n${stringifyJson(output_schema)}`;
  return content.trim() === '' ? [] : [{ role: 'system', content }];
}

function chatTool({ name, description, input_schema }: ToolDefinition, strict: boolean): object {
  const copy = strict ? strictCopy(input_schema as JsonObject) : undefined; // plain JSON by its own contract
  const about = description.trim() === '' ? {} : { description };
  const form = copy === undefined ? { parameters: input_schema } : { parameters: copy, strict: true };
  return { type: 'function', function: { name, ...about, ...form } };
}

function outputFormat(schema: unknown, strict: boolean): object {
  const copy = strict && isJsonObject(schema) ? strictCopy(schema) : undefined;
  return copy === undefined ? { name: 'output', schema } : { name: 'output', schema: copy, strict: true };
}

function chatMessages(message: Message, shape: ChatShape, dialect: Dialect): object[] {
  return message.role === 'assistant' ? assistantMessages(message, shape) : userMessages(message, dialect);
}

/** One message, or none when only what another service can read is in it. */
function assistantMessages({ content }: AssistantMessage, { model }: ChatShape): object[] {
  const text = textOf(content);
  const calls = toolUses(content);
  const blank = text.trim() === '';
  if (calls.length === 0) return blank ? [] : [{ role: 'assistant', content: text }];
  const tool_calls = calls.map(({ id, name, input_json }) => ({
    id,
    type: 'function',
    function: { name, arguments: sendableInput(input_json) },
  }));
  return [{ role: 'assistant', content: blank ? null : text, ...reasoningOf(content, model), tool_calls }];
}

/** Thinking modes refuse calls whose reasoning does not come back with them (field report B187). */
function reasoningOf(content: readonly AssistantBlock[], model: string): Record<string, string> {
  for (const block of content) {
    if (block.type !== 'thinking' || block['reasoning_model'] !== model) continue;
    const field = block['reasoning_field'];
    if (typeof field === 'string' && block.thinking !== '') return { [field]: block.thinking };
  }
  return {};
}

function userMessages({ content }: UserMessage, { images: shown }: Dialect): object[] {
  const results = content.flatMap((block) =>
    block.type === 'tool_result' ? [{ ...block, content: block.content.map((part) => inWords(part, shown)) }] : [],
  );
  const said = content.flatMap((block) => (block.type === 'tool_result' ? [] : [inWords(block, shown)]));
  // Answers to calls hold text only; their images go with what the user says next.
  const images = results.flatMap((result) => result.content.filter(isImage));
  return [...results.map(toolMessage), ...saidMessages([...images, ...said])];
}

/** What chat completions cannot carry, as a text in its place. */
function inWords(part: ResultContent, images: boolean): ResultText | ImageBlock {
  if (part.type === 'document') return { type: 'text', text: UNSEEN_PDF };
  return part.type === 'image' && !images ? { type: 'text', text: UNSEEN_IMAGE } : part;
}

function toolMessage({ tool_use_id, content, is_error }: ToolResultBlock): object {
  const text = joined(content);
  const shown = text === '' ? (content.some(isImage) ? IMAGE_RESULT : EMPTY_RESULT) : text;
  return { role: 'tool', tool_call_id: tool_use_id, content: is_error ? `Error: ${shown}` : shown };
}

function saidMessages(parts: readonly ResultContent[]): object[] {
  const text = joined(parts);
  const images = parts.filter(isImage);
  if (images.length === 0) return text === '' ? [] : [{ role: 'user', content: text }];
  const texts = text === '' ? [] : [{ type: 'text', text }];
  return [{ role: 'user', content: [...texts, ...images.map(imagePart)] }];
}

function imagePart({ source: { media_type, data } }: ImageBlock): object {
  return { type: 'image_url', image_url: { url: `data:${media_type};base64,${data}` } };
}

function isImage(part: ResultContent): part is ImageBlock {
  return part.type === 'image';
}

function joined(parts: readonly ResultContent[]): string {
  const texts = parts.flatMap((part) => (part.type === 'text' && part.text.trim() !== '' ? [part.text] : []));
  return texts.join('\n\n');
}
