import { assertNever } from '../core/errors.ts';
import { roughTokens } from '../core/media.ts';
import { answerText } from './answer-text.ts';
import { holdMedia } from './media-room.ts';
import { onAttempt, onCompacted, onFailed, onReply, onTurnStart } from './reduce-turn.ts';
import { promptsLeft, resultBlock } from './state.ts';
import type {
  Notice,
  OutputChecked,
  PolicyVerdictEvent,
  RunEvent,
  RunResume,
  RunStart,
  ToolEnd,
  ToolStart,
  UserMessageEvent,
  UserMessageReason,
  VerifyEnd,
} from '../core/events.ts';
import type { Limits } from '../core/config.ts';
import type { ContinueReason, LimitHit } from '../core/outcome.ts';
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
      return onFailed(state, event);
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
      return onNotice(state, event);
    case 'run_end':
      return { ...state, ended: event };
    default:
      return assertNever(event);
  }
}

function onStart(state: RunState, event: RunStart): RunState {
  const gauge = roughTokens([event.system, event.tools]);
  return { ...state, start: event, gauge, gauge_base: gauge };
}

function onResume(state: RunState, event: RunResume): RunState {
  const { ended: _ended, failure: _failure, terminated: _terminated, ...rest } = state;
  const start =
    rest.start && event.limits ? { ...rest.start, task: { ...rest.start.task, limits: event.limits } } : rest.start;
  const resumed = { ...rest, ...(start ? { start } : {}), resumed: true };
  // A conclusion that stands stays one, whatever is allowed now.
  return resumed.checked?.ok ? resumed : lifted(resumed);
}

/** Where a limit was reached: its name in a task's limits. */
const LIMIT_FIELDS = {
  max_turns: 'max_turns',
  max_input_tokens: 'max_input_tokens',
  max_output_tokens: 'max_output_tokens',
  max_total_tokens: 'max_total_tokens',
  max_cost: 'max_cost_usd',
  max_tool_calls: 'max_tool_calls',
  timeout: 'timeout_ms',
} as const satisfies Record<LimitHit['reason'], keyof Limits>;

/** Work goes on when the limit that made the run conclude is higher now. */
function lifted(state: RunState): RunState {
  const { limit_reached: hit, ...rest } = state;
  const now = hit && state.start?.task.limits[LIMIT_FIELDS[hit.reason]];
  return now === null || (now !== undefined && hit && now > hit.limit) ? rest : state;
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
    media: holdMedia(state.media, event.content),
    results: new Map(state.results).set(event.tool_use_id, resultBlock(event)),
    why: whyAfter(state, event),
    tool_stats: {
      total: stats.total + 1,
      denied: stats.denied + (denied ? 1 : 0),
      failed: stats.failed + (event.is_error && !denied && event.status !== 'timed_out' ? 1 : 0),
      timed_out: stats.timed_out + (event.status === 'timed_out' ? 1 : 0),
    },
    ledger: event.status === 'over_limit' ? { ...state.ledger, tool_calls: state.ledger.tool_calls + 1 } : state.ledger,
  };
}

/** What most needs the model's eye: a denial, then what it has to mend. */
function whyAfter({ why, checked }: RunState, { status }: ToolEnd): ContinueReason {
  if (status === 'denied' || why === 'tool_denied') return 'tool_denied';
  if (status === 'invalid' && checked?.ok === false) return 'output_repair';
  if (status === 'invalid' || status === 'unknown') return 'call_repair';
  return why === 'call_repair' ? why : 'tool_results';
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

function onUserMessage(before: RunState, event: UserMessageEvent): RunState {
  const state = event.reason === 'follow_up' ? lifted(before) : before;
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
    ...(answered ? { later_prompt: event.content } : {}),
    answers: answered ? [...state.answers, answerText(reply?.content ?? [], state.start?.task.model)] : state.answers,
    ...(event.limit ? { limit_reached: event.limit } : {}),
  };
}

function onChecked(state: RunState, event: OutputChecked): RunState {
  if (event.stage === 'gate') return { ...state, gate_checked: event };
  if (event.ok) return { ...state, checked: event, output: event };
  return { ...state, checked: event, checks_failed: state.checks_failed + 1, last_failed_check: event };
}

function onNotice(state: RunState, { level, code, message }: Notice): RunState {
  const warnings = level === 'info' ? state.warnings : [...state.warnings, message];
  return { ...state, warnings, told: [...state.told, code] };
}

function onVerify(state: RunState, event: VerifyEnd): RunState {
  return { ...state, verified: [...state.verified, event], verify_log: [...state.verify_log, event] };
}
