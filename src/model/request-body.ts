import type { JsonValue } from '../core/json.ts';
import { isJsonObject, stringifyJson } from '../core/json.ts';
import type {
  AssistantBlock,
  Message,
  ResultContent,
  ToolDefinition,
  ToolUseBlock,
  UserBlock,
} from '../core/messages.ts';
import type { ModelRequest } from '../core/ports.ts';
import { awaitsService } from './server-tools.ts';

/** What stays the same in every request of a client. */
export interface RequestShape {
  model: string;
  effort?: string;
  /** Ask for thinking where a model does not think by itself. */
  adaptive_thinking: boolean;
  thinking_display?: string;
  /** The cloud that serves the model: the model stands in the address, the API's version in the body. */
  platform?: 'bedrock' | 'vertex';
  /** Entries of tools that the service runs, behind ours. */
  server_tools?: readonly string[];
  /** Ask why the cache was missed, when the request names the message before it. */
  diagnostics?: boolean;
}

/** Asks for a summary by the service, and for taking the one that stands first in the messages. */
const SUMMARY_BETA = 'compact-2026-09-04';
/** As the SDK sends it in a header. */
const API_VERSION = '2026-10-21';
const EMPTY_RESULT = '(no output)';
// One hour for what all runs share, five minutes for this run's history; the longer must come first. Clouds may not
// know the longer one.
const SYSTEM_MARK = ',"cache_control":{"type":"ephemeral","ttl":"1h"}';
const HISTORY_MARK = ',"cache_control":{"type":"ephemeral"}';
/** The newest message, and the one before it for turns that add more blocks than the service looks back. */
const MARKED_MESSAGES = 2;

const CLOSE = Buffer.from('}]}');
const MARK_AND_CLOSE = Buffer.from(`${HISTORY_MARK}}]}`);
const COMMA = Buffer.from(',');
const END = Buffer.from(']}');

/**
 * Turns requests into bytes. A message is written once and remembered, so a longer history costs no more than copying;
 * cache marks are put in while copying and are never part of what is remembered.
 */
export function createRequestWriter(shape: RequestShape): (request: ModelRequest) => Buffer {
  // Each message without its closing `}]}`, or null when nothing of it may be sent.
  const written = new WeakMap<Message, Buffer | null>();
  const textOf = (message: Message, before: Message | undefined): Buffer | null => {
    const known = written.get(message);
    if (known !== undefined) return known;
    const text = messageText(awaitsService(before) ? onlyResults(message) : message);
    const bytes = text === undefined ? null : Buffer.from(text.slice(0, -CLOSE.length));
    written.set(message, bytes);
    return bytes;
  };
  return (request) => {
    const parts: Buffer[] = [Buffer.from(headText(shape, request))];
    const { messages } = request;
    const sent = messages.filter((message, at) => textOf(message, messages[at - 1]) !== null);
    const marked = new Set(sent.filter(({ role }) => role === 'user').slice(-MARKED_MESSAGES));
    for (const message of sent) {
      const bytes = written.get(message) ?? CLOSE;
      if (parts.length > 1) parts.push(COMMA);
      parts.push(bytes, marked.has(message) ? MARK_AND_CLOSE : CLOSE);
    }
    return Buffer.concat([...parts, END]);
  };
}

/** The beta features a request uses, as the service names them; each must be named with every such request. */
export function betasOf({ summarize, messages }: ModelRequest): string[] {
  const first = messages[0]?.role === 'assistant' ? messages[0].content[0] : undefined;
  return summarize || first?.type === 'opaque' ? [SUMMARY_BETA] : [];
}

function headText(shape: RequestShape, request: ModelRequest): string {
  const { system, tools, max_tokens, output_schema } = request;
  const { model, platform } = shape;
  const asked = platform === undefined ? `"model":${JSON.stringify(model)}` : `"anthropic_version":"${API_VERSION}"`;
  const head = [asked, `"max_tokens":${max_tokens}`];
  if (platform !== 'bedrock') head.push('"stream":true'); // Bedrock has it in the address
  const { thinking_display: display } = shape;
  if (shape.adaptive_thinking || display !== undefined)
    head.push(`"thinking":${JSON.stringify({ type: 'adaptive', display })}`);
  const config = outputConfig(shape.effort, output_schema);
  if (config) head.push(`"output_config":${config}`);
  if (shape.diagnostics && request.previous_message_id !== undefined) {
    head.push(`"diagnostics":${JSON.stringify({ previous_message_id: request.previous_message_id })}`);
  }
  if (request.summarize) head.push('"compaction":{"type":"summarize"}');
  if (system.trim() !== '') {
    const block = stringifyJson({ type: 'text', text: system });
    head.push(`"system":[${block.slice(0, -1)}${shape.platform ? HISTORY_MARK : SYSTEM_MARK}}]`);
  }
  const entries = [...tools.map(toolText), ...(shape.server_tools ?? [])];
  if (entries.length > 0) head.push(`"tools":[${entries.join(',')}]`);
  return `{${head.join(',')},"messages":[`;
}

function outputConfig(effort: string | undefined, schema: JsonValue | undefined): string | undefined {
  const config = {
    ...(effort === undefined ? {} : { effort }),
    ...(schema === undefined ? {} : { format: { type: 'json_schema', schema } }),
  };
  return Object.keys(config).length === 0 ? undefined : stringifyJson(config);
}

function toolText({ name, description, input_schema }: ToolDefinition): string {
  return stringifyJson({ name, description, input_schema });
}

/** Without what is said beside the results of calls; the next message may say it. */
function onlyResults(message: Message): Message {
  const results = message.role === 'user' ? message.content.filter(({ type }) => type === 'tool_result') : [];
  return results.length === 0 ? message : { role: 'user', content: results };
}

/** A message as the service takes it; undefined when nothing but blank text is in it. */
function messageText(message: Message): string | undefined {
  const blocks =
    message.role === 'assistant'
      ? message.content.filter((block) => !isBlank(block)).map(assistantText)
      : message.content.filter((block) => !isBlank(block)).map(userText);
  return blocks.length === 0 ? undefined : `{"role":"${message.role}","content":[${blocks.join(',')}]}`;
}

function assistantText(block: AssistantBlock): string {
  if (block.type === 'tool_use') return toolUseText(block);
  return typeof block.json === 'string' ? block.json : JSON.stringify(block);
}

function toolUseText({ id, name, input_json, around_json }: ToolUseBlock): string {
  const input = sendableInput(input_json);
  if (around_json) return around_json[0] + input + around_json[1];
  return `{"type":"tool_use","id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"input":${input}}`;
}

/** A call's input as services take it back: only objects; for anything else the call was answered with an error. */
export function sendableInput(input_json: string): string {
  return isObjectText(input_json) ? input_json : stringifyJson({ INVALID_JSON: input_json });
}

function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false; // a SyntaxError
  }
}

function userText(block: UserBlock): string {
  if (block.type !== 'tool_result') return contentText(block);
  const given = block.content.filter((part) => !isBlank(part));
  const content = given.length === 0 ? [contentText({ type: 'text', text: EMPTY_RESULT })] : given.map(contentText);
  const id = JSON.stringify(block.tool_use_id);
  const error = block.is_error ? ',"is_error":true' : '';
  return `{"type":"tool_result","tool_use_id":${id},"content":[${content.join(',')}]${error}}`;
}

function contentText(part: ResultContent): string {
  if (part.type === 'text') return stringifyJson({ type: 'text', text: part.text });
  const { type, media_type, data } = part.source;
  return JSON.stringify({ type: part.type, source: { type, media_type, data } });
}

function isBlank(block: AssistantBlock | UserBlock): boolean {
  // Reasoning of another service, without the signature that this one asks for.
  if (block.type === 'thinking' && 'reasoning_field' in block) return true;
  return block.type === 'text' && typeof block.text === 'string' && block.text.trim() === '';
}
