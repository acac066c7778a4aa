// The vocabulary of a conversation, in the API's own words and spelling. Blocks keep fields of the vendor
// that we do not know, because the assistant's content goes back exactly as it came.

// `json`, where present, is the block's exact text: kept only when parsing and writing it again would change it
// (`1.0`, integers above 2^53).

export interface TextBlock {
  type: 'text';
  text: string;
  json?: string;
  [vendor: string]: unknown;
}

export interface ThinkingBlock {
  type: 'thinking';
  thinking: string;
  signature?: string;
  json?: string;
  [vendor: string]: unknown;
}

export interface RedactedThinkingBlock {
  type: 'redacted_thinking';
  data: string;
  json?: string;
  [vendor: string]: unknown;
}

/** A tool call; `input_json` is the input's text as it arrived, so that spelling of numbers and key order survive. */
export interface ToolUseBlock {
  type: 'tool_use';
  id: string;
  name: string;
  input_json: string;
  /** The block's text before and after its input, when it holds more than type, id, name, input in this order. */
  around_json?: [before: string, after: string];
  /** Read out of the reply's text, where it stands as the model wrote it; a model that calls this way is sent the text alone. */
  in_text?: true;
  /** What is wrong with such a text: the call is answered with an error and never run. */
  fault?: CallFault;
}

/**
 * Why a text that begins like a call is none. `inline`: it stands behind words of the same line; `thinking`: in thinking
 * that does not end.
 */
export type CallFault = 'unclosed' | 'no_name' | 'no_params' | 'open_string' | 'inline' | 'thinking' | 'forged_result';

/** A block of a type we do not act on (server tools and newer ones), as the JSON text that arrived. */
export interface OpaqueBlock {
  type: 'opaque';
  json: string;
}

export type AssistantBlock = TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolUseBlock | OpaqueBlock;

/** A file's bytes for a model to look at. */
export interface MediaSource {
  type: 'base64';
  media_type: string;
  data: string;
}

/** What stands beside `source` is our own knowledge of it and is never sent. */
export interface ImageBlock {
  type: 'image';
  source: MediaSource;
  /** In pixels. */
  width?: number;
  height?: number;
}

/** A PDF. */
export interface DocumentBlock {
  type: 'document';
  source: MediaSource;
  /** At least. */
  pages?: number;
}

export type MediaBlock = ImageBlock | DocumentBlock;

export interface ResultText {
  type: 'text';
  text: string;
}

export type ResultContent = ResultText | MediaBlock;

export interface ToolResultBlock {
  type: 'tool_result';
  tool_use_id: string;
  content: ResultContent[];
  is_error?: true;
}

export type UserBlock = ToolResultBlock | ResultContent;

export interface UserMessage {
  role: 'user';
  content: UserBlock[];
}

export interface AssistantMessage {
  role: 'assistant';
  content: AssistantBlock[];
}

export type Message = UserMessage | AssistantMessage;

/** The API's stop reasons; `unknown` stands for any other value, kept beside it as `stop_reason_raw`. */
export const STOP_REASONS = [
  'end_turn',
  'tool_use',
  'max_tokens',
  'stop_sequence',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
  'compaction',
] as const;
export type StopReason = (typeof STOP_REASONS)[number] | 'unknown';

/** The calls of a reply that are ours to answer, in block order. */
export function toolUses(content: readonly AssistantBlock[]): ToolUseBlock[] {
  return content.filter((block): block is ToolUseBlock => block.type === 'tool_use');
}

/** All visible text of a reply, blocks joined in order. */
export function textOf(content: readonly AssistantBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** The tool as it is offered to a model. `input_schema` is plain JSON Schema with an object root. */
export interface ToolDefinition {
  name: string;
  description: string;
  input_schema: Record<string, unknown>;
}
