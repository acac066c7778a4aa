import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import { STOP_REASONS } from '../core/messages.ts';
import type { AssistantBlock, StopReason, ToolUseBlock } from '../core/messages.ts';
import type { ModelReply, Redact } from '../core/ports.ts';
import type { Usage } from '../core/usage.ts';
import { membersOf } from './json-text.ts';
import { applyDelta, closeBlock, openBlock } from './reply-blocks.ts';
import type { OpenBlock } from './reply-blocks.ts';
import { estimateUsage, mergeUsage, readUsage } from './reply-usage.ts';
import type { SeenUsage } from './reply-usage.ts';

/** Why a stream is no reply: an error event of the service, or `malformed_stream`. */
export interface StreamFault {
  type: string;
  message: string;
  code?: string;
}

export type ReadReply = Pick<
  ModelReply,
  | 'model'
  | 'message_id'
  | 'content'
  | 'stop_reason'
  | 'stop_reason_raw'
  | 'stop_details'
  | 'usage'
  | 'cache_miss_reason'
>;

export interface ReaderOptions {
  redact: Redact;
  onBlock: (block: ToolUseBlock) => void;
  /** Text as it comes, not cleaned. */
  onText?: (text: string, block: number) => void;
  /** Size of the request, for estimates where the service gives no usage. */
  request_bytes: number;
}

/** Builds one reply from the frames of one attempt; the reply exists only once `done`. */
export class ReplyReader {
  done = false;
  /** A call was handed out through `onBlock`. */
  offered = false;
  readonly #options: ReaderOptions;
  #message: JsonObject | undefined;
  #usage: SeenUsage = {};
  #stop: JsonObject = {};
  #received = 0;
  readonly #open = new Map<number, OpenBlock>();
  readonly #content: AssistantBlock[] = [];
  readonly #ids = new Set<string>();

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** Takes one frame's data; returns what is wrong with it, if anything. */
  accept(data: string): StreamFault | undefined {
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch {
      return malformed('a frame is not JSON'); // a SyntaxError: cut by a proxy, or a page instead of a stream
    }
    if (!isJsonObject(event)) return malformed('a frame is not an object');
    const { type } = event;
    if (type === 'error') return errorFault(event['error']);
    if (type === 'message_start') return this.#start(event);
    if (type === 'message_stop') return this.#finish();
    if (type === 'message_delta') return this.#delta(event);
    return this.#block(event, data);
  }

  /** The service began to reply. */
  get started(): boolean {
    return this.#message !== undefined;
  }

  /** What an attempt costs that broke here: the last numbers seen, never less than what arrived, else an estimate. */
  usageSoFar(): Usage {
    const estimate = estimateUsage(this.#options.request_bytes, this.#received);
    if (Object.keys(this.#usage).length === 0) return estimate;
    const seen = readUsage(this.#usage);
    return { ...seen, output_tokens: Math.max(seen.output_tokens, estimate.output_tokens), estimated: true };
  }

  /** The reply; only when `done`. */
  reply(): ReadReply {
    const { model, id, diagnostics } = this.#message ?? {};
    const missed = missReason(diagnostics);
    const details = this.#stop['stop_details'];
    return {
      model: typeof model === 'string' ? model : '',
      message_id: typeof id === 'string' ? id : '',
      content: this.#content,
      ...stopReason(this.#stop['stop_reason']),
      ...(isJsonObject(details) ? { stop_details: stopDetails(details, this.#options.redact) } : {}),
      usage: Object.keys(this.#usage).length === 0 ? this.usageSoFar() : readUsage(this.#usage),
      ...(missed === undefined ? {} : { cache_miss_reason: missed }),
    };
  }

  #start(event: JsonObject): StreamFault | undefined {
    const { message } = event;
    if (this.#message || !isJsonObject(message)) return malformed('message_start is repeated or holds no message');
    this.#message = message;
    this.#usage = mergeUsage({}, message['usage']);
    return undefined;
  }

  #delta(event: JsonObject): StreamFault | undefined {
    if (isJsonObject(event['delta'])) this.#stop = { ...this.#stop, ...event['delta'] };
    this.#usage = mergeUsage(this.#usage, event['usage']);
    return undefined;
  }

  #finish(): StreamFault | undefined {
    if (!this.#message) return malformed('message_stop came without message_start');
    if (this.#open.size > 0) return malformed('message_stop came before the end of a content block');
    this.done = true;
    return undefined;
  }

  #block(event: JsonObject, data: string): StreamFault | undefined {
    const { type, index, delta } = event;
    if (type !== 'content_block_start' && type !== 'content_block_delta' && type !== 'content_block_stop') {
      return undefined; // an event newer than we are
    }
    if (!this.#message || typeof index !== 'number') return malformed(`${type} came without a message or an index`);
    if (type === 'content_block_start') return this.#openBlock(index, data);
    const block = this.#open.get(index);
    if (!block) return malformed(`${type} names block ${index}, which is not open`);
    if (type === 'content_block_stop') return this.#closeBlock(index, block);
    if (!isJsonObject(delta)) return malformed('a delta is not an object');
    this.#received += applyDelta(block, delta, data);
    // Never a part of the whole text: cutting it for each piece takes the square of its length.
    const { type: kind, text } = delta;
    if (block.type === 'text' && kind === 'text_delta' && typeof text === 'string') this.#tell(text, index);
    return undefined;
  }

  #openBlock(index: number, data: string): StreamFault | undefined {
    const json = membersOf(data).findLast(({ key }) => key === 'content_block')?.text;
    const block = openBlock(json ?? '');
    if (!block) return malformed('content_block_start holds no block');
    this.#open.set(index, block);
    if (block.type === 'text') this.#tell(block.text, index);
    return undefined;
  }

  #tell(text: string, index: number): void {
    if (text !== '') this.#options.onText?.(text, index);
  }

  #closeBlock(index: number, open: OpenBlock): StreamFault | undefined {
    this.#open.delete(index);
    const block = closeBlock(open, this.#options.redact);
    if (!block) return malformed('a tool_use block has no id or name');
    // Sent back, a repeated id would be refused for ever (field report B007).
    if (block.type === 'tool_use' && this.#ids.has(block.id)) return malformed(`two calls have the id ${block.id}`);
    this.#content.push(block);
    if (block.type !== 'tool_use') return undefined;
    this.#ids.add(block.id);
    this.offered = true;
    this.#options.onBlock(block);
    return undefined;
  }
}

/** The stop reason in our closed list, with the raw value beside it when it is not one of them. */
export function stopReason(raw: unknown): { stop_reason: StopReason; stop_reason_raw?: string } {
  const known = STOP_REASONS.find((reason) => reason === raw);
  return known ? { stop_reason: known } : { stop_reason: 'unknown', stop_reason_raw: String(raw) };
}

/** The service's error object, wherever it stands. */
export function errorFault(error: unknown): StreamFault {
  const { type, message, details } = isJsonObject(error) ? error : {};
  const code = isJsonObject(details) ? details['error_code'] : undefined;
  return {
    type: typeof type === 'string' ? type : 'unknown_error',
    message: typeof message === 'string' ? message : 'no message was given',
    ...(typeof code === 'string' ? { code } : {}),
  };
}

function stopDetails(details: JsonObject, redact: Redact): { category: string | null; explanation: string | null } {
  const { category, explanation } = details;
  return {
    category: typeof category === 'string' ? category : null,
    explanation: typeof explanation === 'string' ? redact(explanation.toWellFormed()) : null,
  };
}

/** The type of a cache miss; null stands for no miss, or for one that is not looked into yet. */
function missReason(diagnostics: unknown): string | undefined {
  const reason = isJsonObject(diagnostics) ? diagnostics['cache_miss_reason'] : undefined;
  const type = isJsonObject(reason) ? reason['type'] : undefined;
  return typeof type === 'string' ? type : undefined;
}

function malformed(message: string): StreamFault {
  return { type: 'malformed_stream', message };
}
