import { assertNever } from '../core/errors.ts';
import { textOf, toolUses } from '../core/messages.ts';
import { addUsage, promptTokens } from '../core/usage.ts';
import { openMessage, promptsLeft, resultBlock } from './state.ts';
import type {
  Attempt,
  Compacted,
  ModelReplyEvent,
  OutputChecked,
  PolicyVerdictEvent,
  RunEvent,
  RunResume,
  RunStart,
  ToolEnd,
  ToolStart,
  TurnStart,
  UserMessageEvent,
  UserMessageReason,
  VerifyEnd,
} from '../core/events.ts';
import type { AssistantBlock, Message, StopReason } from '../core/messages.ts';
import type { ContinueReason } from '../core/outcome.ts';
import type { Ledger } from '../core/ports.ts';
import type { RunState } from './state.ts';

/** The state after an event. Pure: the same journal always reduces to the same state. */
export function reduce(state: RunState, event: RunEvent): RunState {
  const now_ms = Date.parse(event.time);
  const next = apply(state, event);
  return { ...next, ledger: { ...next.ledger, started_ms: startedMs(state, event, now_ms), now_ms } };
}

/** Moved on by every pause before a resume, so that now minus this is running time. */
function startedMs({ ledger }: RunState, event: RunEvent, now_ms: number): number {
  if (event.type === 'run_start') return now_ms;
  return event.type === 'run_resume' ? ledger.started_ms + now_ms - ledger.now_ms : ledger.started_ms;
}

function apply(state: RunState, event: RunEvent): RunState {
  switch (event.type) {
    case 'run_start':
      return onStart(state, event);
    case 'run_resume':
      return onResume(state, event);
    case 'turn_start':
      return onTurnStart(state, event);
    case 'attempt':
      return onAttempt(state, event);
    case 'model_reply':
      return onReply(state, event);
    case 'model_failed':
      return { ...state, failure: event };
    case 'policy_verdict':
      return onVerdict(state, event);
    case 'tool_start':
      return onToolStart(state, event);
    case 'tool_end':
      return onToolEnd(state, event);
    case 'user_message':
      return onUserMessage(state, event);
    case 'output_checked':
      return onChecked(state, event);
    case 'verify_end':
      return onVerify(state, event);
    case 'compacted':
      return onCompacted(state, event);
    case 'turn_end':
      return state;
    case 'notice':
      return event.level === 'info' ? state : { ...state, warnings: [...state.warnings, event.message] };
    case 'run_end':
      return { ...state, ended: event };
    default:
      return assertNever(event);
  }
}

/** Bytes over four: what is added until the service counts it. */
function roughTokens(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value)) / 4);
}

function onStart(state: RunState, event: RunStart): RunState {
  const gauge = roughTokens([event.system, event.tools]);
  return { ...state, start: event, gauge, gauge_base: gauge };
}

function onResume(state: RunState, event: RunResume): RunState {
  const { ended: _ended, failure: _failure, terminated: _terminated, ...rest } = state;
  const start =
    rest.start && event.limits ? { ...rest.start, task: { ...rest.start.task, limits: event.limits } } : rest.start;
  return { ...rest, ...(start ? { start } : {}), resumed: true };
}

/** What is sent now is closed: later words go into a message of their own, so the sent prefix never changes. */
function onTurnStart(state: RunState, event: TurnStart): RunState {
  const { reply: _reply, failure: _failure, ...rest } = state;
  const content = openMessage(state);
  const messages: readonly Message[] =
    content.length > 0 ? [...state.messages, { role: 'user', content }] : state.messages;
  return { ...rest, turn: event, messages, said: [], calls: [], results: new Map(), started: new Map() };
}

function onAttempt(state: RunState, event: Attempt): RunState {
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

function onReply(state: RunState, event: ModelReplyEvent): RunState {
  const content = event.content.filter(sendable);
  const empty = content.length === 0;
  const kept = !empty && KEPT[event.stop_reason];
  const spent = spend(state.ledger, event.usage, event.cost_usd);
  const { checked: _checked, gate_checked: _gate, failure: _failure, ...rest } = state;
  return {
    ...rest,
    ...afterCut(state, event),
    messages: kept ? [...state.messages, { role: 'assistant', content }] : state.messages,
    calls: kept ? toolUses(content) : [],
    verified: [],
    reply: {
      disposition: kept ? 'kept' : 'dropped',
      content: event.content,
      stop_reason: event.stop_reason,
      empty,
      ...(event.stop_reason_raw === undefined ? {} : { stop_reason_raw: event.stop_reason_raw }),
      ...(event.stop_details === undefined ? {} : { stop_details: event.stop_details }),
    },
    gauge: promptTokens(event.usage) + (kept ? event.usage.output_tokens : 0),
    compacted_in_row: state.compacting ? state.compacted_in_row : 0,
    empty_in_row: empty ? state.empty_in_row + 1 : 0,
    pauses_in_row: event.stop_reason === 'pause_turn' ? state.pauses_in_row + 1 : 0,
    why: WHY_AFTER[event.stop_reason] ?? 'tool_results',
    ledger: {
      ...spent,
      turns: spent.turns + 1,
      requests: spent.requests + 1,
      last_input_tokens: promptTokens(event.usage),
      last: event.usage,
    },
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

function onVerdict(state: RunState, event: PolicyVerdictEvent): RunState {
  if (event.verdict === 'allow') return state;
  const reason = event.reason ?? 'no rule allows it';
  const denied = {
    tool_use_id: event.tool_use_id,
    tool: event.name,
    reason,
    input_sha256: event.input_sha256,
    ...(event.rule === undefined ? {} : { rule: event.rule }),
  };
  return {
    ...state,
    denied: [...state.denied, denied],
    ledger: { ...state.ledger, denials: state.ledger.denials + 1 },
    ...(event.verdict === 'terminate' ? { terminated: { tool: event.name, detail: reason } } : {}),
  };
}

function onToolStart(state: RunState, event: ToolStart): RunState {
  return {
    ...state,
    started: new Map(state.started).set(event.tool_use_id, event.effect),
    calls_by_tool: { ...state.calls_by_tool, [event.name]: (state.calls_by_tool[event.name] ?? 0) + 1 },
    ledger: { ...state.ledger, tool_calls: state.ledger.tool_calls + 1 },
  };
}

function onToolEnd(state: RunState, event: ToolEnd): RunState {
  const stats = state.tool_stats;
  const denied = event.status === 'denied';
  return {
    ...state,
    gauge: state.gauge + roughTokens(event.content),
    results: new Map(state.results).set(event.tool_use_id, resultBlock(event)),
    why: denied || state.why === 'tool_denied' ? 'tool_denied' : 'tool_results',
    tool_stats: {
      total: stats.total + 1,
      denied: stats.denied + (denied ? 1 : 0),
      failed: stats.failed + (event.is_error && !denied && event.status !== 'timed_out' ? 1 : 0),
      timed_out: stats.timed_out + (event.status === 'timed_out' ? 1 : 0),
    },
    ledger: event.status === 'over_limit' ? { ...state.ledger, tool_calls: state.ledger.tool_calls + 1 } : state.ledger,
  };
}

const WHY_SAID = {
  prompt: 'prompt',
  next_prompt: 'next_prompt',
  follow_up: 'next_prompt',
  limit_reminder: 'finalize',
  output_repair: 'output_repair',
  output_missing: 'output_missing',
  empty_reply: 'output_missing',
  verify_feedback: 'verify_feedback',
  compaction_request: 'compaction',
} as const satisfies Record<UserMessageReason, ContinueReason>;

function onUserMessage(state: RunState, event: UserMessageEvent): RunState {
  const { reply, checked: _checked, failure: _failure, ...rest } = state;
  const asks = event.reason === 'prompt' || event.reason === 'next_prompt' || event.reason === 'follow_up';
  const answered = event.reason === 'next_prompt' || event.reason === 'follow_up';
  return {
    ...rest,
    said: [...state.said, ...event.content],
    gauge: state.gauge + roughTokens(event.content),
    compacting: event.reason === 'compaction_request',
    why: WHY_SAID[event.reason],
    prompts_said: state.prompts_said + (asks && promptsLeft(state) > 0 ? 1 : 0),
    answers: answered ? [...state.answers, textOf(reply?.content ?? [])] : state.answers,
    ...(event.limit ? { limit_reached: event.limit } : {}),
  };
}

function onChecked(state: RunState, event: OutputChecked): RunState {
  if (event.stage === 'gate') return { ...state, gate_checked: event };
  if (event.ok) return { ...state, checked: event, output: event };
  return { ...state, checked: event, checks_failed: state.checks_failed + 1, last_failed_check: event };
}

function onVerify(state: RunState, event: VerifyEnd): RunState {
  return { ...state, verified: [...state.verified, event], verify_log: [...state.verify_log, event] };
}

/** A fresh conversation: what it begins with waits for the next request like anything else that was said. */
function onCompacted(state: RunState, event: Compacted): RunState {
  const { reply: _reply, checked: _checked, ...rest } = state;
  const spent = spend(state.ledger, event.usage, event.cost_usd);
  const gauge = state.gauge_base + roughTokens(event.summary);
  return {
    ...rest,
    messages: [],
    said: event.summary,
    calls: [],
    results: new Map(),
    why: 'context_compacted',
    gauge,
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
