import type { Attempt, ModelFailure, ModelReplyEvent } from './events.ts';
import type { JsonValue } from './json.ts';
import type { Message, ToolDefinition, ToolUseBlock } from './messages.ts';
import type { LimitHit } from './outcome.ts';
import type { Prices } from './usage.ts';

export interface ModelRequest {
  /** The number of the turn that is asked for, which is what a model that plays a recording goes by. */
  turn?: number;
  system: string;
  tools: readonly ToolDefinition[];
  messages: readonly Message[];
  max_tokens: number;
  /** The message before, null for the first: asks why the cache was missed, of a client that `diagnoses_cache`. */
  previous_message_id?: string | null;
  /** Asks for a signed summary of the messages in place of a reply; only of a client that `summarizes`. */
  summarize?: true;
  /** Native structured output; absent: none is asked for. */
  output_schema?: JsonValue;
}

export interface SendHooks {
  /** A tool_use block is complete while the reply still streams. Not proof that the reply will be kept. */
  onBlock(block: ToolUseBlock): void;
  /** The attempt failed: blocks offered since the last call belong to no reply. */
  onDiscard(): void;
  /** Text of the reply as it arrives, of the text block with this number; not cleaned, and of the present attempt only. */
  onText?(text: string, block: number): void;
  onAttempt(attempt: Omit<Attempt, 'type' | 'turn'>): void;
  /** Asked before each further attempt: the limit that forbids it, if any. */
  admit(): LimitHit | undefined;
}

export type ModelReply = Omit<ModelReplyEvent, 'type' | 'turn'>;
export type SendResult = ({ ok: true } & ModelReply) | ({ ok: false } & ModelFailure);

export interface ModelClient {
  /** As written in the task: "claude-sonnet-5-5". */
  readonly id: string;
  readonly prices: Prices | null;
  readonly prices_as_of: string | null;
  /** The most `max_tokens` the model takes, and the size of its window; null when unknown. */
  readonly max_output_tokens: number | null;
  readonly context_tokens: number | null;
  /** The service can sum up a history by itself, and takes the summary in its place. */
  readonly summarizes?: boolean;
  /** The service caches prompts and tells why it could not reuse one. */
  readonly diagnoses_cache?: boolean;
  /** One turn, retries included. Never throws for what the service does; settles within 1 s of an abort. */
  send(request: ModelRequest, hooks: SendHooks, signal: AbortSignal): Promise<SendResult>;
}
