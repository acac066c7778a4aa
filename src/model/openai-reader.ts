import { isJsonObject } from '../core/json.ts';
import type { JsonObject, JsonValue } from '../core/json.ts';
import type { AssistantBlock, StopReason, ToolUseBlock } from '../core/messages.ts';
import type { Redact } from '../core/ports.ts';
import type { Usage } from '../core/usage.ts';
import { textAt } from './json-text.ts';
import { addCallDelta, closeCalls, wholeCalls } from './openai-calls.ts';
import type { OpenCall } from './openai-calls.ts';
import { chatFault, isFault } from './openai-fault.ts';
import type { ChatFault } from './openai-fault.ts';
import { readChatUsage } from './openai-usage.ts';
import { cleanText } from './reply-blocks.ts';
import type { ReadReply } from './reply-reader.ts';
import { estimateUsage } from './reply-usage.ts';

export interface ChatReaderOptions {
  redact: Redact;
  /** Size of the request, for estimates where the endpoint gives no usage. */
  request_bytes: number;
  /** The id in the task, which reasoning is sent back to. */
  model: string;
  /** Text as it comes, not cleaned. */
  onText?: (text: string) => void;
  /** A call that is whole while the reply still streams. */
  onCall?: (call: ToolUseBlock) => void;
  /** Ids that no call of this reply may have. */
  taken: ReadonlySet<string>;
}

// Both names are in use; what came under one goes back under the same.
const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const;
const END = '[DONE]';

/** Builds one reply from the chunks of one attempt, or from the whole answer of an endpoint that does not stream. */
export class ChatReader {
  /** The endpoint said that no more chunks come. */
  ended = false;
  started = false;
  readonly #options: ChatReaderOptions;
  readonly #calls: OpenCall[] = [];
  readonly #handed: ToolUseBlock[] = [];
  #model = '';
  #id = '';
  #text = '';
  #refusal = '';
  #reasoning = '';
  #reasoningField: string | undefined;
  #finish: string | undefined;
  #usage: Usage | undefined;
  #received = 0;

  constructor(options: ChatReaderOptions) {
    this.#options = options;
  }

  /** A finish reason came: what is there is the whole reply, with or without `[DONE]`. */
  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /** How many calls were handed out through `onCall`. */
  get handed(): number {
    return this.#handed.length;
  }

  /** Takes one chunk's data; returns what is wrong with it, if anything. */
  accept(data: string): ChatFault | undefined {
    if (data.trim() === END) {
      this.ended = true;
      return undefined;
    }
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      return malformed('a chunk is not JSON'); // a SyntaxError: cut by a proxy, or a page instead of a stream
    }
    if (!isJsonObject(chunk)) return malformed('a chunk is not an object');
    if (isFault(chunk)) return chatFault(chunk);
    this.#head(chunk);
    const choice: JsonValue | undefined = Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined;
    if (!isJsonObject(choice)) return undefined;
    this.#see(choice['usage']);
    const field = isJsonObject(choice['delta']) ? 'delta' : 'message';
    const part = choice[field];
    if (isJsonObject(part)) this.#part(part, (path) => textAt(data, ['choices', 0, field, ...path]));
    return this.#end(choice['finish_reason']);
  }

  /** What an attempt costs that broke here: the last numbers seen, never less than what arrived, else an estimate. */
  usageSoFar(): Usage {
    const estimate = estimateUsage(this.#options.request_bytes, this.#received);
    if (!this.#usage) return estimate;
    const output_tokens = Math.max(this.#usage.output_tokens, estimate.output_tokens);
    return { ...this.#usage, output_tokens, estimated: true };
  }

  /** The reply, only when `finished`; or why it is none. */
  reply(): { ok: true; reply: ReadReply } | { ok: false; fault: ChatFault } {
    const { taken, redact } = this.#options;
    const closed = closeCalls(this.#calls, taken, redact);
    if (!closed) return { ok: false, fault: malformed('a tool call has no name') };
    // What was handed out may run: nothing that came for it later counts.
    const calls = [...this.#handed, ...closed.slice(this.#handed.length)];
    const refusal = cleanText(this.#refusal, redact);
    const stop = refusal === '' ? stopOf(this.#finish ?? '', calls.length > 0) : { stop_reason: 'refusal' as const };
    const refused = stop.stop_reason === 'refusal';
    const details = { category: refusal === '' ? 'content_filter' : null, explanation: refusal || null };
    return {
      ok: true,
      reply: {
        model: cleanText(this.#model, redact),
        message_id: cleanText(this.#id, redact),
        content: this.#content(calls),
        ...stop,
        ...(refused ? { stop_details: details } : {}),
        usage: this.#usage ?? this.usageSoFar(),
      },
    };
  }

  #content(calls: readonly ToolUseBlock[]): AssistantBlock[] {
    const { redact, model } = this.#options;
    const content: AssistantBlock[] = [];
    if (this.#reasoningField !== undefined) {
      const thinking = cleanText(this.#reasoning, redact);
      content.push({ type: 'thinking', thinking, reasoning_field: this.#reasoningField, reasoning_model: model });
    }
    const text = cleanText(this.#text + this.#refusal, redact);
    if (text !== '') content.push({ type: 'text', text });
    return [...content, ...calls];
  }

  #head({ id, model, usage }: JsonObject): void {
    if (typeof id === 'string' && this.#id === '') this.#id = id;
    if (typeof model === 'string' && this.#model === '') this.#model = model;
    this.#see(usage);
  }

  #see(usage: JsonValue | undefined): void {
    if (isJsonObject(usage)) this.#usage = readChatUsage(usage) ?? this.#usage;
  }

  #part(part: JsonObject, exact: (path: (string | number)[]) => string | undefined): void {
    this.started = true;
    const text = textIn(part['content']);
    const refusal = textIn(part['refusal']);
    this.#text += text;
    if (text !== '') this.#options.onText?.(text);
    this.#refusal += refusal;
    this.#received += text.length + refusal.length;
    this.#reason(part);
    const calls = Array.isArray(part['tool_calls']) ? part['tool_calls'] : [];
    for (const [at, delta] of calls.entries()) {
      if (!isJsonObject(delta)) continue;
      const path = ['tool_calls', at, 'function', 'arguments'];
      this.#received += addCallDelta(this.#calls, delta, () => exact(path));
    }
    if (calls.length > 0) this.#handOut();
    const single = part['function_call'];
    if (!isJsonObject(single)) return;
    const delta = { index: 0, function: single };
    this.#received += addCallDelta(this.#calls, delta, () => exact(['function_call', 'arguments']));
  }

  #handOut(): void {
    const { taken, redact, onCall } = this.#options;
    const whole = wholeCalls(this.#calls);
    if (!onCall || whole <= this.#handed.length) return;
    const closed = closeCalls(this.#calls.slice(0, whole), taken, redact) ?? [];
    for (const call of closed.slice(this.#handed.length)) {
      this.#handed.push(call);
      onCall(call);
    }
  }

  #reason(part: JsonObject): void {
    const field = this.#reasoningField ?? REASONING_FIELDS.find((name) => textIn(part[name]) !== '');
    const text = field === undefined ? '' : textIn(part[field]);
    if (text === '') return;
    this.#reasoningField = field;
    this.#reasoning += text;
    this.#received += text.length;
  }

  #end(finish: JsonValue | undefined): ChatFault | undefined {
    if (typeof finish !== 'string' || finish === '') return undefined;
    // The endpoint's own words for a reply that it gave up.
    if (finish === 'error') return { type: 'server_error', message: 'the reply ended with finish_reason "error"' };
    if (finish === 'insufficient_system_resource')
      return { type: finish, message: `the reply ended with finish_reason "${finish}"` };
    this.#finish ??= finish;
    return undefined;
  }
}

/** Text that is a string or a list of text parts; '' for anything else. */
function textIn(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : '')).join('');
}

/** Calls are run whatever the reason, except where the reply was cut or withheld (field report B185). */
function stopOf(finish: string, has_calls: boolean): { stop_reason: StopReason; stop_reason_raw?: string } {
  if (finish === 'length' || finish === 'max_tokens') return { stop_reason: 'max_tokens' };
  if (finish === 'content_filter') return { stop_reason: 'refusal' };
  if (has_calls || finish === 'tool_calls' || finish === 'function_call') return { stop_reason: 'tool_use' };
  if (finish === 'stop' || finish === 'eos' || finish === 'eos_token') return { stop_reason: 'end_turn' };
  return { stop_reason: 'unknown', stop_reason_raw: finish };
}

function malformed(message: string): ChatFault {
  return { type: 'malformed_stream', message };
}
