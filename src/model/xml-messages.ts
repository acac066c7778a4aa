import { toolUses } from '../core/messages.ts';
import type {
  AssistantBlock,
  AssistantMessage,
  Message,
  ResultContent,
  ToolDefinition,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
  UserMessage,
} from '../core/messages.ts';
import type { ModelRequest, ProtocolTexts, ProtocolTool } from '../core/ports.ts';
import { stringifyJson } from '../core/json.ts';
import { sendableInput } from './request-body.ts';
import { inert } from './xml-inert.ts';

const SCHEMA_NOTE = 'When you give the final answer, give it as JSON only, valid against this schema:';

interface Call {
  name: string;
  /** Its place among the calls of its reply, from 1. */
  number: number;
}

/** Writes requests for a model without tool calling; each message once, so that what was sent never changes. */
export function createTextWriter(texts: ProtocolTexts): (request: ModelRequest) => ModelRequest {
  const written = new WeakMap<Message, Message>();
  return (request) => {
    const calls = new Map<string, Call>();
    const messages = request.messages.map((message) => {
      if (message.role === 'assistant') number(message, calls);
      const known = written.get(message) ?? writeMessage(message, calls, texts);
      written.set(message, known);
      return known;
    });
    const { output_schema, ...rest } = request;
    const system = systemText(request, texts);
    // A service that holds every reply to the schema would leave no room for a call.
    const schema = output_schema === undefined || request.tools.length > 0 ? {} : { output_schema };
    return { ...rest, ...schema, system, tools: [], messages };
  };
}

function systemText({ system, tools, output_schema }: ModelRequest, texts: ProtocolTexts): string {
  if (tools.length === 0) return system;
  const parts = [system, texts.tools(tools.map((tool) => inertTool(tool, texts)))];
  if (output_schema !== undefined) parts.push(`${SCHEMA_NOTE}\n${stringifyJson(output_schema)}`);
  return parts.filter((part) => part.trim() !== '').join('\n\n');
}

/** Descriptions may come from a server of tools. */
function inertTool({ name, description, input_schema }: ToolDefinition, { tags }: ProtocolTexts): ProtocolTool {
  return { name, description: inert(description, tags), schema: inert(stringifyJson(input_schema), tags) };
}

function number({ content }: AssistantMessage, calls: Map<string, Call>): void {
  for (const [index, { id, name }] of toolUses(content).entries()) calls.set(id, { name, number: index + 1 });
}

function writeMessage(message: Message, calls: ReadonlyMap<string, Call>, texts: ProtocolTexts): Message {
  return message.role === 'assistant' ? assistantText(message) : userText(message, calls, texts);
}

/** The model's own words exactly as they came; a call made in another way is written as this model would. */
function assistantText(message: AssistantMessage): AssistantMessage {
  if (toolUses(message.content).length === 0) return message;
  const content = message.content.flatMap((block): AssistantBlock[] => {
    if (block.type !== 'tool_use') return [block];
    return block.in_text ? [] : [{ type: 'text', text: callText(block) }];
  });
  return { role: 'assistant', content };
}

function callText({ name, input_json }: ToolUseBlock): string {
  return `<tool_call><name>${name}</name><params>${sendableInput(input_json)}</params></tool_call>`;
}

function userText({ content }: UserMessage, calls: ReadonlyMap<string, Call>, texts: ProtocolTexts): UserMessage {
  const blocks = content.flatMap((block): UserBlock[] => {
    if (block.type === 'tool_result') return resultText(block, calls.get(block.tool_use_id), texts);
    return block.type === 'text' ? [{ type: 'text', text: inert(block.text, texts.tags) }] : [block];
  });
  return { role: 'user', content: blocks };
}

function resultText(
  { content, is_error }: ToolResultBlock,
  { name, number: call }: Call = { name: 'unknown', number: 1 },
  protocol: ProtocolTexts,
): UserBlock[] {
  const texts = content.flatMap((part) => (part.type === 'text' ? part.text : []));
  const others = content.filter((part): part is Exclude<ResultContent, { type: 'text' }> => part.type !== 'text');
  const output = inert(texts.join('\n\n') || (others.length > 0 ? '(see below)' : '(no output)'), protocol.tags);
  const tool = name.replaceAll(/[<>&"\s]/g, '_');
  return [
    { type: 'text', text: protocol.toolResult({ tool, call, status: is_error ? 'error' : 'ok', output }) },
    ...others,
  ];
}
