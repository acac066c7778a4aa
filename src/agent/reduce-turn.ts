import { roughTokens } from '../core/media.ts';
import { toolUses } from '../core/messages.ts';
import { addUsage, promptTokens } from '../core/usage.ts';
import { NO_MEDIA } from './media-room.ts';
import { openMessage } from './state.ts';
import { summaryBlock } from './summary-block.ts';
import { missOf } from './cache-miss.ts';
import type { Attempt, Compacted, ModelFailedEvent, ModelReplyEvent, Stamp, TurnStart } from '../core/events.ts';
import type { AssistantBlock, Message, StopReason } from '../core/messages.ts';
import type { ContinueReason } from '../core/outcome.ts';
import type { Ledger } from '../core/ports.ts';
import type { Disposition, Reply, RunState } from './state.ts';

// What requests and replies change in the state; reduce.ts knows the other events.

/** What is sent now is closed: later words go into a message of their own, so the sent prefix never changes. */
export function onTurnStart(state: RunState, event: TurnStart): RunState {
  const { reply: _reply, failure: _failure, ...rest } = state;
  const content = openMessage(state);
  const messages: readonly Message[] =
    content.length > 0 ? [...state.messages, { role: 'user', content }] : state.messages;
  return { ...rest, turn: event, messages, said: [], calls: [], results: new Map(), started: new Map() };
}

export function onAttempt(state: RunState, event: Attempt): RunState {
  const ledger = spend(state.ledger, event.usage, event.cost_usd);
  return {
    ...state,
    started: new Map(),
    ledger: {
      ...ledger,
      requests: ledger.requests + 1,
      retries: ledger.retries + (event.wait_ms === undefined ? 0 : 1),
    },
  };
}

export function onFailed(state: RunState, event: ModelFailedEvent): RunState {
  const refused = state.turn?.summarize && event.kind === 'api_error';
  return { ...state, failure: event, ...(refused ? { summarize_failed: true } : {}) };
}

export function onReply(state: RunState, event: ModelReplyEvent & Stamp): RunState {
  return state.turn?.summarize ? onServiceSummary(state, event) : onModelReply(state, event);
}

/** No reply of the model: the history and all that counts replies in a row stay as they are. */
function onServiceSummary(state: RunState, event: ModelReplyEvent): RunState {
  const { failure: _failure, ...rest } = state;
  const summarize_failed = summaryBlock(event) === undefined;
  return { ...rest, reply: replyOf(event, 'dropped'), summarize_failed, ledger: answered(state.ledger, event) };
}

function onModelReply(state: RunState, event: ModelReplyEvent & Stamp): RunState {
  const asked_ms = Date.parse(event.time) - event.duration_ms;
  const cache_miss = state.compacting ? undefined : missOf(state, event, asked_ms);
  const content = event.content.filter(sendable);
  const empty = content.length === 0;
  const kept = !empty && KEPT[event.stop_reason];
  const { checked: _checked, gate_checked: _gate, failure: _failure, ...rest } = state;
  return {
    ...rest,
    ...afterCut(state, event),
    messages: kept ? [...state.messages, { role: 'assistant', content }] : state.messages,
    calls: kept ? toolUses(content) : [],
    verified: [],
    reply: { ...replyOf(event, kept ? 'kept' : 'dropped'), ...(cache_miss === undefined ? {} : { cache_miss }) },
    cached_ms: asked_ms,
    ...(event.message_id === '' ? {} : { last_message_id: event.message_id }),
    gauge: promptTokens(event.usage) + (kept ? event.usage.output_tokens : 0),
    compacted_in_row: state.compacting ? state.compacted_in_row : 0,
    empty_in_row: empty ? state.empty_in_row + 1 : 0,
    pauses_in_row: event.stop_reason === 'pause_turn' ? state.pauses_in_row + 1 : 0,
    why: WHY_AFTER[event.stop_reason] ?? 'tool_results',
    ledger: answered(state.ledger, event),
  };
}

function replyOf(event: ModelReplyEvent, disposition: Disposition): Reply {
  const { content, stop_reason, stop_reason_raw, stop_details } = event;
  return {
    disposition,
    content,
    stop_reason,
    empty: !content.some(sendable),
    ...(stop_reason_raw === undefined ? {} : { stop_reason_raw }),
    ...(stop_details === undefined ? {} : { stop_details }),
  };
}

/** Every answer received in full is a turn. */
function answered(ledger: Ledger, event: ModelReplyEvent): Ledger {
  const spent = spend(ledger, event.usage, event.cost_usd);
  return {
    ...spent,
    turns: spent.turns + 1,
    requests: spent.requests + 1,
    last_input_tokens: promptTokens(event.usage),
    last: event.usage,
  };
}

const KEPT = {
  end_turn: true,
  tool_use: true,
  stop_sequence: true,
  pause_turn: true,
  max_tokens: false,
  refusal: false,
  model_context_window_exceeded: false,
  compaction: false,
  unknown: false,
} as const satisfies Record<StopReason, boolean>;

const WHY_AFTER: Partial<Record<StopReason, ContinueReason>> = {
  pause_turn: 'pause_turn',
  max_tokens: 'resume_truncated',
};

/** A turn cut by its own cap is asked again with twice the room; one cut by a budget's clamp is not. */
function afterCut(
  state: RunState,
  event: ModelReplyEvent,
): Pick<RunState, 'truncated_in_row'> & { max_tokens?: number } {
  if (event.stop_reason !== 'max_tokens') return { truncated_in_row: 0 };
  const cap = state.turn?.max_tokens;
  const larger = cap === undefined || state.turn?.clamped_by ? {} : { max_tokens: cap * 2 };
  return { truncated_in_row: state.truncated_in_row + 1, ...larger };
}

// The API refuses empty text blocks, so what the model left empty is not sent back.
function sendable(block: AssistantBlock): boolean {
  return block.type !== 'text' || block.text.trim() !== '';
}

/** A fresh conversation: what it begins with waits for the next request like anything else that was said. */
export function onCompacted(state: RunState, event: Compacted): RunState {
  const { reply: _reply, checked: _checked, last_message_id: _last, ...rest } = state;
  const spent = spend(state.ledger, event.usage, event.cost_usd);
  const gauge = state.gauge_base + roughTokens([event.blocks ?? [], event.summary]);
  return {
    ...rest,
    messages: event.blocks ? [{ role: 'assistant', content: event.blocks }] : [],
    said: event.summary,
    calls: [],
    results: new Map(),
    why: 'context_compacted',
    gauge,
    media: NO_MEDIA,
    compacting: false,
    compacted_in_row: state.compacted_in_row + 1,
    // The next prompt is no longer at least as large as the last one.
    ledger: { ...spent, last_input_tokens: gauge, last: null },
  };
}

function spend(ledger: Ledger, usage: Attempt['usage'], cost_usd: number | null | undefined): Ledger {
  if (!usage) return ledger;
  const cost =
    ledger.cost_usd === null || cost_usd === null || cost_usd === undefined ? null : ledger.cost_usd + cost_usd;
  return { ...ledger, total: addUsage(ledger.total, usage), cost_usd: cost };
}
