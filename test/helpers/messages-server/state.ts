import { setMaxListeners } from 'node:events';
import { messageText } from './canonical.ts';
import type { CanonicalRequest } from './canonical.ts';
import { promptCache } from './cache.ts';
import type { PromptCache } from './cache.ts';
import { startConversation } from './conversation.ts';
import type { Conversation } from './conversation.ts';
import type { RecordedRequest, ReplyFunction, ReplyLike, ServedReply, ServerOptions } from './types.ts';

/** Everything a running server remembers. */
export interface ServerState {
  options: ServerOptions;
  now: () => number;
  queue: (ReplyLike | ReplyFunction)[];
  requests: RecordedRequest[];
  turns: RecordedRequest[];
  replies: ServedReply[];
  failures: string[];
  conversations: Map<string, Conversation>;
  generation: number;
  cache: PromptCache;
  /** Text of every compaction block that was sent, by its signature. */
  summaries: Map<string, string>;
  closing: AbortController;
}

export function startState(options: ServerOptions): ServerState {
  const now = options.now ?? Date.now;
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // one per held reply
  return {
    options,
    now,
    queue: Array.isArray(options.replies) ? [...options.replies] : [],
    requests: [],
    turns: [],
    replies: [],
    failures: [],
    conversations: new Map(),
    generation: 0,
    cache: promptCache(now, options.cache_minimum_tokens),
    summaries: new Map(),
    closing,
  };
}

/** The conversation a request belongs to; it is started when there is none yet. */
export function conversationOf(state: ServerState, recorded: RecordedRequest, request: CanonicalRequest): Conversation {
  const key = `${state.generation}:${conversationKey(state.options, recorded, request)}`;
  const found = state.conversations.get(key) ?? startConversation(state.options.foreign_history ?? false);
  state.conversations.set(key, found);
  return found;
}

function conversationKey(options: ServerOptions, recorded: RecordedRequest, request: CanonicalRequest): string {
  const rule = options.conversations ?? 'one';
  if (typeof rule === 'function') return rule(recorded);
  const first = request.messages[0];
  return rule === 'by_first_message' && first !== undefined ? messageText(first) : '';
}

/** The next scripted reply; undefined when the script is at its end. */
export async function nextReply(state: ServerState, recorded: RecordedRequest): Promise<ReplyLike | undefined> {
  const script = state.options.replies;
  const next = state.queue.shift() ?? (typeof script === 'function' ? script : undefined);
  return typeof next === 'function' ? next(recorded, recorded.n) : next;
}
