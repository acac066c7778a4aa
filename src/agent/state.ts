import { NO_USAGE } from '../core/usage.ts';
import { NO_MEDIA, type MediaHeld } from './media-room.ts';
import type { ModelFailure, OutputChecked, RunEnd, RunStart, ToolEnd, TurnStart, VerifyEnd } from '../core/events.ts';
import type {
  AssistantBlock,
  Message,
  StopReason,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from '../core/messages.ts';
import type { ContinueReason, LimitHit } from '../core/outcome.ts';
import type { Ledger } from '../core/ports.ts';

/** What becomes of a reply: kept in the history, or dropped with all it holds. */
export type Disposition = 'kept' | 'dropped';

export interface Reply {
  disposition: Disposition;
  content: readonly AssistantBlock[];
  stop_reason: StopReason;
  stop_reason_raw?: string;
  stop_details?: { category: string | null; explanation: string | null };
  empty: boolean;
  /** The cache should have given more: the service's word for why, or `nothing_read`. */
  cache_miss?: string;
}

export interface DeniedCall {
  tool_use_id: string;
  tool: string;
  rule?: string;
  reason: string;
  input_sha256: string;
}

/** Everything the run knows, reduced from its journal; nothing else decides what comes next. */
export interface RunState {
  start?: RunStart;
  ended?: RunEnd;
  /** What has been sent or received; never changed, only appended to. */
  messages: readonly Message[];
  /** Texts that wait for the next request, after the results of the calls. */
  said: readonly UserBlock[];
  /** Calls of the last kept reply that still stand in the open user message. */
  calls: readonly ToolUseBlock[];
  results: ReadonlyMap<string, ToolResultBlock>;
  /** Calls that were started, by id; without a result after a crash their effect is unknown. */
  started: ReadonlyMap<string, 'read' | 'write'>;
  turn?: TurnStart;
  /** The reply under judgement; gone once something was said or asked after it. */
  reply?: Reply;
  failure?: ModelFailure;
  why: ContinueReason;
  prompts_said: number;
  /** The prompt that is worked on, when it is not the first: a later one of the list, or a follow-up. */
  later_prompt?: readonly UserBlock[];
  /** Final texts of the prompts before the last one. */
  answers: readonly string[];
  /** The check of the present reply's output. */
  checked?: OutputChecked;
  gate_checked?: OutputChecked;
  /** The last output that passed the schema. */
  output?: OutputChecked;
  checks_failed: number;
  last_failed_check?: OutputChecked;
  verified: readonly VerifyEnd[];
  verify_log: readonly VerifyEnd[];
  limit_reached?: LimitHit;
  truncated_in_row: number;
  empty_in_row: number;
  pauses_in_row: number;
  /** Tokens the next prompt will have, as far as can be told: the last one's size and what was added since. */
  gauge: number;
  /** The part of it that stays in every prompt: system text and tools. */
  gauge_base: number;
  /** Images and documents in the present conversation. */
  media: MediaHeld;
  /** A summary was asked for and has not come yet. */
  compacting: boolean;
  /** The service was asked for a summary and gave none; it is not asked again. */
  summarize_failed: boolean;
  /** The last answer in the present conversation. */
  last_message_id?: string;
  /** When the request of the last answer began, in milliseconds: its cache lives from then. */
  cached_ms: number;
  /** Compactions since the last turn of ordinary work. */
  compacted_in_row: number;
  /** Doubled with every truncated turn; absent: the task's own value. */
  max_tokens?: number;
  ledger: Ledger;
  calls_by_tool: Readonly<Record<string, number>>;
  denied: readonly DeniedCall[];
  /** A denial that ends the run. */
  terminated?: { tool: string; detail: string };
  tool_stats: { total: number; denied: number; failed: number; timed_out: number };
  warnings: readonly string[];
  /** Codes of what was told already. */
  told: readonly string[];
  resumed: boolean;
}

export const EMPTY_STATE: RunState = {
  messages: [],
  said: [],
  calls: [],
  results: new Map(),
  started: new Map(),
  why: 'prompt',
  prompts_said: 0,
  answers: [],
  checks_failed: 0,
  verified: [],
  verify_log: [],
  truncated_in_row: 0,
  empty_in_row: 0,
  pauses_in_row: 0,
  gauge: 0,
  gauge_base: 0,
  media: NO_MEDIA,
  compacting: false,
  cached_ms: 0,
  summarize_failed: false,
  compacted_in_row: 0,
  ledger: {
    turns: 0,
    requests: 0,
    retries: 0,
    total: NO_USAGE,
    last_input_tokens: 0,
    last: null,
    cost_usd: 0,
    tool_calls: 0,
    denials: 0,
    started_ms: 0,
    now_ms: 0,
  },
  calls_by_tool: {},
  denied: [],
  tool_stats: { total: 0, denied: 0, failed: 0, timed_out: 0 },
  warnings: [],
  told: [],
  resumed: false,
};

/** Calls of the last kept reply that have no result yet, in block order. */
export function openCalls(state: RunState): ToolUseBlock[] {
  return state.calls.filter((call) => !state.results.has(call.id));
}

/** The user message under construction: results in block order first, texts after them. */
export function openMessage(state: RunState): UserBlock[] {
  const results = state.calls.flatMap((call) => state.results.get(call.id) ?? []);
  return [...results, ...state.said];
}

/** How many prompts of the task are still to be asked. */
export function promptsLeft(state: RunState): number {
  return (state.start?.task.prompts.length ?? 0) - state.prompts_said;
}

/** The result block that a finished call puts into the next user message. */
export function resultBlock(event: ToolEnd): ToolResultBlock {
  const base = { type: 'tool_result' as const, tool_use_id: event.tool_use_id, content: event.content };
  return event.is_error ? { ...base, is_error: true } : base;
}
