import type { IncomingHttpHeaders } from 'node:http';
import type { JsonRecord } from './json-text.ts';

/** A content block to stream. Tool blocks take `input` (a value) or `input_json` (the exact text of the deltas). */
export interface BlockSpec {
  type: string;
  [field: string]: unknown;
}

export interface UsageSpec {
  input_tokens?: number;
  output_tokens?: number;
  cache_creation_input_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  cache_creation?: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number } | null;
  output_tokens_details?: { thinking_tokens: number } | null;
  server_tool_use?: { web_search_requests: number; web_fetch_requests: number } | null;
  [field: string]: unknown;
}

/**
 * A place in a reply, always read as "after this": the request was read, the head was sent, message_start was sent,
 * the first delta, the first block's stop, block N's stop, all content (so before message_delta), message_delta (so before
 * message_stop), message_stop, the Nth event (from 1).
 */
export type Point =
  | 'request'
  | 'head'
  | 'message_start'
  | 'delta'
  | 'block_stop'
  | `block_stop:${number}`
  | 'content'
  | 'message_delta'
  | 'message_stop'
  | `event:${number}`;

/** Holds a reply; `reached` settles when the reply gets there, `release` lets it go on. */
export interface Gate {
  readonly reached: Promise<void>;
  readonly released: Promise<void>;
  arrive: () => void;
  release: () => void;
}

/** `until` is a gate, or milliseconds. */
export interface Pause {
  after: Point;
  until: Gate | number;
}

/** An extra SSE event put into the stream, to show types a client does not know. */
export interface ExtraEvent {
  after: Point;
  event: string;
  data: unknown;
}

export interface StreamOptions {
  pause?: Pause | Pause[];
  /** true: a ping after every event; false: none; absent: one after message_start, as the service does. */
  pings?: boolean;
  /** UTF-16 units per delta; 1 splits surrogate pairs. */
  delta_size?: number;
  /** Bytes per write; 1 splits multibyte characters. */
  wire_size?: number;
  headers?: Record<string, string>;
  extra_events?: ExtraEvent[];
}

export interface MessageSpec extends StreamOptions {
  content?: BlockSpec[];
  stop_reason?: string;
  stop_sequence?: string | null;
  stop_details?: JsonRecord | null;
  /** The final usage, cumulative as in message_delta. */
  usage?: UsageSpec;
  /** Overrides what message_start says, for usage that grows during the reply. */
  start_usage?: UsageSpec;
  model?: string;
  id?: string;
  diagnostics?: JsonRecord | null;
  /** Vendor fields on the message object. */
  extra?: JsonRecord;
}

/** Text put on the wire at a point, then what happens to the connection. */
export interface Fault {
  after: Point;
  send?: string;
  finish: 'continue' | 'end' | 'reset' | 'stall';
}

/** The service's `error` object. */
export interface ErrorObject {
  type: string;
  message: string;
  details?: JsonRecord;
}

export interface HttpReply {
  kind: 'http';
  status: number;
  headers: Record<string, string>;
  body: string | ErrorObject;
  pause?: Pause | Pause[];
}

export type Reply = { kind: 'message'; message: MessageSpec; fault?: Fault } | HttpReply;

/** A text stands for a reply with that text. */
export type ReplyLike = Reply | string;
export type ReplyFunction = (request: RecordedRequest, n: number) => ReplyLike | Promise<ReplyLike>;
export type Script = ReplyFunction | (ReplyLike | ReplyFunction)[];

export interface RecordedRequest {
  /** Counts requests of the same method and path, from 1. */
  n: number;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The body as it came, and as parsed (empty when it is no JSON object). */
  text: string;
  body: JsonRecord;
  received_at: number;
  request_id: string;
}

/** What was sent for one POST /v1/messages: `complete` is true once message_stop is out. */
export interface ServedReply {
  request_n: number;
  request_id: string;
  status: number;
  message?: JsonRecord;
  complete: boolean;
}

export type Rule =
  | 'auth'
  | 'version'
  | 'size'
  | 'encoding'
  | 'json'
  | 'fields'
  | 'model'
  | 'max_tokens'
  | 'sampling'
  | 'thinking'
  | 'roles'
  | 'prefill'
  | 'empty'
  | 'blocks'
  | 'tool_pairing'
  | 'tools'
  | 'tool_choice'
  | 'cache_control'
  | 'schema'
  | 'append_only'
  | 'reply_changed'
  | 'prompt_too_long'
  | 'compaction'
  | 'diagnostics'
  | 'script';

export interface Violation {
  rule: Rule;
  message: string;
  /** Default 400 invalid_request_error. */
  status?: number;
  type?: string;
  /** Goes to `error.details.error_code`. */
  error_code?: string;
}

export interface ModelFacts {
  max_input_tokens: number;
  max_tokens: number;
  thinking: readonly string[];
  system_messages: boolean;
  /** Takes the `compaction` parameter. */
  compaction: boolean;
}

export interface ServerOptions {
  replies?: Script;
  /** Which credential header counts; default bearer. */
  auth?: 'bearer' | 'x-api-key' | 'either';
  /** When set, any other key is a 401. */
  api_key?: string;
  /** Rules that are not enforced. */
  tolerate?: Rule[];
  /**
   * Which requests belong together: all of them (default), those with the same first message (a client that compacts
   * starts a new one), or those with the same key.
   */
  conversations?: 'one' | 'by_first_message' | ((request: RecordedRequest) => string);
  /** Accept assistant messages this server never sent, in the first request of a conversation (a resumed run). */
  foreign_history?: boolean;
  simulate_cache?: boolean;
  /** Prefixes shorter than this many tokens are not cached; default 512. */
  cache_minimum_tokens?: number;
  /** Milliseconds; used by the simulated cache's ttl and by received_at. */
  now?: () => number;
  /** Send anthropic-ratelimit headers. */
  rate_limits?: boolean;
  models?: Record<string, Partial<ModelFacts>>;
}

export interface MessagesServer {
  url: string;
  /** Every request, also those to other paths and those refused. */
  requests: RecordedRequest[];
  /** Only POST /v1/messages. */
  turns: RecordedRequest[];
  replies: ServedReply[];
  /** Strictness violations, each with the request it was found in. */
  failures: string[];
  push: (...replies: (ReplyLike | ReplyFunction)[]) => void;
  /** The next request starts a conversation of its own. */
  newConversation: () => void;
  close: () => Promise<void>;
}
