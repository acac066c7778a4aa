import { sentBlocks, withIds } from './blocks.ts';
import { asksForSummary } from './check-compaction.ts';
import { addReply } from './conversation.ts';
import type { FilledMessage } from './frames.ts';
import { wholeMessage } from './frames.ts';
import { isRecord, shown } from './json-text.ts';
import type { JsonRecord } from './json-text.ts';
import { errorObject } from './reply.ts';
import { errorText, sendHttp, sendStream, sendWhole } from './send.ts';
import type { Delivery } from './send.ts';
import { conversationOf, nextReply } from './state.ts';
import type { ServerState } from './state.ts';
import type { MessageSpec, RecordedRequest, ReplyLike, ServedReply, UsageSpec, Violation } from './types.ts';
import { validate } from './validate.ts';
import type { RawBody, Validated } from './validate.ts';

type Accepted = Validated & { ok: true };

/** Answers POST /v1/messages: a refusal that names the broken rule, or the next scripted reply. */
export async function answerTurn(
  state: ServerState,
  recorded: RecordedRequest,
  raw: RawBody,
  delivery: Delivery,
): Promise<void> {
  const checked = validate(state, recorded, raw, false);
  if (!checked.ok) {
    fail(state, recorded, checked.violation, delivery);
    return;
  }
  conversationOf(state, recorded, checked.request).accepted = { n: recorded.n, request: checked.request };
  const next = await nextReply(state, recorded);
  if (next === undefined) {
    const message = `no reply is scripted for request ${recorded.n}`;
    fail(state, recorded, { rule: 'script', message }, delivery);
    return;
  }
  await deliver(state, { recorded, checked }, next, delivery);
}

/** Answers with the service's error object. */
export function refuse(delivery: Delivery, violation: Violation): void {
  const { status = 400, type = 'invalid_request_error', message, error_code } = violation;
  const headers = { 'content-type': 'application/json', 'x-should-retry': 'false', ...delivery.headers };
  delivery.response.writeHead(status, headers);
  const error = errorObject(type, message, error_code);
  delivery.response.end(errorText(error, delivery.headers['request-id']));
}

interface Turn {
  recorded: RecordedRequest;
  checked: Accepted;
}

function fail(state: ServerState, recorded: RecordedRequest, violation: Violation, delivery: Delivery): void {
  state.failures.push(`request ${recorded.n}: ${violation.rule}: ${violation.message}`);
  state.replies.push({ ...served(recorded), status: violation.status ?? 400 });
  refuse(delivery, violation);
}

async function deliver(state: ServerState, turn: Turn, next: ReplyLike, delivery: Delivery): Promise<void> {
  const reply = typeof next === 'string' ? { kind: 'message' as const, message: textMessage(next) } : next;
  const entry = served(turn.recorded);
  state.replies.push(entry);
  if (reply.kind === 'http') {
    entry.status = reply.status;
    await sendHttp(delivery, reply);
    return;
  }
  if (!fitsRequest(turn.recorded, reply.message)) {
    const message = `the reply scripted for request ${turn.recorded.n} is not of the kind it asks for`;
    state.replies.pop();
    fail(state, turn.recorded, { rule: 'script', message }, delivery);
    return;
  }
  const lookup = state.cache.lookup(turn.checked.node, turn.checked.request);
  const simulated = state.options.simulate_cache === true ? lookup.usage : {};
  const message = fill(state, turn.recorded, { simulated, spec: reply.message });
  entry.message = wholeMessage(message);
  const moments = {
    onHead: lookup.commit,
    onComplete: () => {
      entry.complete = true;
      remember(state, turn, message);
    },
  };
  const send = turn.recorded.body['stream'] === true ? sendStream : sendWhole;
  await send(delivery, message, reply.fault, moments);
}

// A request for a summary is answered with one, or with nothing.
function fitsRequest({ body }: RecordedRequest, { content = [] }: MessageSpec): boolean {
  const summaries = content.filter(({ type }) => type === 'compaction');
  return asksForSummary(body) ? content.length === summaries.length && content.length <= 1 : summaries.length === 0;
}

// From here on the client may send this content back.
function remember(state: ServerState, { recorded, checked }: Turn, message: FilledMessage): void {
  const conversation = conversationOf(state, recorded, checked.request);
  const reply = { n: recorded.n, stop_reason: message.stop_reason, blocks: sentBlocks(message.content) };
  addReply(conversation, checked.request.messages.length, reply);
  for (const [index, { type, text }] of reply.blocks.entries()) {
    if (type === 'compaction') state.summaries.set(shown(message.content[index]?.['signature']), text);
  }
}

interface Filling {
  spec: MessageSpec;
  simulated: UsageSpec;
}

function fill(state: ServerState, recorded: RecordedRequest, { spec, simulated }: Filling): FilledMessage {
  const content = withIds(spec.content ?? [], recorded.n);
  const calls = content.some((block) => block.type === 'tool_use');
  return {
    spec: { diagnostics: diagnosis(state, recorded), ...spec },
    id: spec.id ?? `msg_${String(recorded.n).padStart(4, '0')}`,
    model: spec.model ?? shown(recorded.body['model']),
    content,
    stop_reason: spec.stop_reason ?? (calls ? 'tool_use' : 'end_turn'),
    usage: usageOf(recorded, { input_tokens: 10, output_tokens: 5, ...simulated, ...spec.usage }),
  };
}

// Without a script's word the comparison is still pending, unless there is nothing to compare with.
function diagnosis({ replies }: ServerState, { body }: RecordedRequest): JsonRecord | null {
  if (!isRecord(body['diagnostics'])) return null;
  const id = body['diagnostics']['previous_message_id'];
  const known = id === null || replies.some(({ complete, message }) => complete && message?.['id'] === id);
  return { cache_miss_reason: known ? null : { type: 'previous_message_not_found' } };
}

// What a summary costs stands beside the reply's own usage, which is none.
function usageOf({ body }: RecordedRequest, usage: UsageSpec): UsageSpec {
  if (!asksForSummary(body)) return usage;
  return { input_tokens: 0, output_tokens: 0, iterations: [{ type: 'compaction', ...usage }] };
}

function textMessage(text: string): MessageSpec {
  return { content: [{ type: 'text', text }] };
}

function served(recorded: RecordedRequest): ServedReply {
  return { request_n: recorded.n, request_id: recorded.request_id, status: 200, complete: false };
}
