import { withoutInput } from './blocks.ts';
import type { SentBlock } from './blocks.ts';
import { listText, messageText } from './canonical.ts';
import type { CanonicalBlock, CanonicalMessage, CanonicalRequest } from './canonical.ts';
import type { Violation } from './types.ts';

/** A reply that reached message_stop: the only assistant content a client may send back. */
export interface SentReply {
  n: number;
  stop_reason: string;
  blocks: SentBlock[];
}

/** One conversation: the last accepted request, and the replies by the number of messages they answered. */
export interface Conversation {
  accepted?: { n: number; request: CanonicalRequest };
  replies: Map<number, SentReply[]>;
  foreign: boolean;
}

const RESUMABLE = ['pause_turn', 'compaction'];

export function startConversation(foreign: boolean): Conversation {
  return { replies: new Map(), foreign };
}

/** Checks that a request only appends to the one before, and that assistant messages are those this server sent. */
export function* checkConversation(conversation: Conversation, request: CanonicalRequest): Generator<Violation> {
  yield* checkAppendOnly(conversation, request);
  const known = conversation.accepted?.request.messages.length ?? 0;
  const foreign = conversation.foreign && known === 0;
  for (const [index, message] of request.messages.entries()) {
    // A summary stands where messages were; its signature was checked.
    const summary = index === 0 && message.blocks[0]?.type === 'compaction';
    if (message.role !== 'assistant' || index < known || foreign || summary) continue;
    yield* checkAgainstReplies(conversation.replies.get(index) ?? [], message, index);
  }
  yield* checkPrefill(conversation, request.messages);
}

export function addReply(conversation: Conversation, messageCount: number, reply: SentReply): void {
  conversation.replies.set(messageCount, [...(conversation.replies.get(messageCount) ?? []), reply]);
}

function* checkAppendOnly({ accepted }: Conversation, request: CanonicalRequest): Generator<Violation> {
  if (accepted === undefined) return;
  const before = accepted.request;
  for (const part of ['tools', 'system'] as const) {
    if (listText(before[part]) === listText(request[part])) continue;
    yield changed(accepted.n, part, listText(before[part]), listText(request[part]));
  }
  for (const [index, message] of before.messages.entries()) {
    const now = request.messages[index];
    const text = now === undefined ? '(removed)' : messageText(now);
    if (text === messageText(message)) continue;
    yield changed(accepted.n, `messages.${index}`, messageText(message), text);
    return;
  }
}

function* checkAgainstReplies(replies: SentReply[], message: CanonicalMessage, index: number): Generator<Violation> {
  const latest = replies.at(-1);
  if (latest === undefined) {
    yield {
      rule: 'reply_changed',
      message: `messages.${index}: no complete reply of this conversation belongs here: ${excerpt(listText(message.blocks))}`,
    };
  } else if (!replies.some((reply) => differenceTo(reply, message.blocks) === undefined)) {
    yield { rule: 'reply_changed', message: describeDifference(latest, message, index) };
  }
}

function* checkPrefill(conversation: Conversation, messages: CanonicalMessage[]): Generator<Violation> {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return;
  const replies = conversation.replies.get(messages.length - 1) ?? [];
  const resumes = replies.some(
    (reply) => RESUMABLE.includes(reply.stop_reason) && differenceTo(reply, last.blocks) === undefined,
  );
  if (resumes) return;
  const message =
    'This model does not support assistant message prefill. The conversation must end with a user message.';
  yield { rule: 'prefill', message };
}

/** The index of the first block that is not what the reply had; undefined when all are. */
function differenceTo(reply: SentReply, blocks: CanonicalBlock[]): number | undefined {
  for (let at = 0; at < Math.max(reply.blocks.length, blocks.length); at += 1) {
    const [sent, got] = [reply.blocks[at], blocks[at]];
    if (sent === undefined || got === undefined || !isSame(sent, got)) return at;
  }
  return undefined;
}

function isSame(sent: SentBlock, got: CanonicalBlock): boolean {
  return sent.text === (sent.returnable ? got.text : withoutInput(got.node));
}

function describeDifference(reply: SentReply, message: CanonicalMessage, index: number): string {
  const at = differenceTo(reply, message.blocks) ?? 0;
  const [sent, got] = [reply.blocks[at], message.blocks[at]];
  const detail = `sent ${excerpt(sent?.text)}, got ${excerpt(got?.text)}`;
  const thinking = [sent?.type, got?.type].some((type) => type === 'thinking' || type === 'redacted_thinking');
  const path = `messages.${index}.content.${at}`;
  if (!thinking) return `${path}: differs from reply ${reply.n}: ${detail}`;
  return (
    `${path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. ` +
    `These blocks must remain as they were in the original response (reply ${reply.n}: ${detail}).`
  );
}

function changed(n: number, path: string, before: string, after: string): Violation {
  let at = 0;
  while (at < before.length && before.charAt(at) === after.charAt(at)) at += 1;
  const from = Math.max(0, at - 20);
  const detail = `at ${at}: was ${excerpt(before.slice(from))}, is ${excerpt(after.slice(from))}`;
  return {
    rule: 'append_only',
    message: `${path}: Invalid signature in thinking block. The block is bound to a different conversation (changed since request ${n}, ${detail})`,
  };
}

function excerpt(text: string | undefined): string {
  if (text === undefined) return '(nothing)';
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
