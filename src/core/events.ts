// The one stream of a run: the transcript's lines and what subscribers see. Noun first, then start or end.

import type { TaskConfig } from './config.ts';
import type { AssistantBlock, ResultContent, StopReason, ToolDefinition, UserBlock } from './messages.ts';
import type { CancelSignal, ContinueReason, LimitHit, OutputIssue, RunOutcome } from './outcome.ts';
import type { Usage } from './usage.ts';

export const TRANSCRIPT_VERSION = 1;

/** How the final output reaches us. `text`: no schema. */
export type OutputMode = 'text' | 'native' | 'tool';

export interface GitState {
  head: string | null;
  branch: string | null;
  dirty: boolean;
}

export interface ContextPart {
  /** What it is, in one line: "git diff main..HEAD". */
  label: string;
  /** The text as it stands in the first message, redacted, without the fence. */
  text: string;
  bytes: number;
  omitted_bytes: number;
  notes: string[];
}

export interface SandboxState {
  mode: 'auto' | 'required' | 'off';
  /** What tools really run in. */
  active: 'bubblewrap' | 'none';
  detail: string;
}

export type RunStart = {
  type: 'run_start';
  transcript_version: number;
  runner: { version: string; node: string; platform: string; sandbox: SandboxState };
  task: TaskConfig;
  workspace: string;
  untrusted: boolean;
  git: GitState | null;
  context: ContextPart[];
  /** Set when a context with `when_empty: skip` was empty: nothing will be asked. */
  skip?: string;
  system: string;
  tools: ToolDefinition[];
  output_mode: OutputMode;
};

export type RunResume = { type: 'run_resume'; prompt?: string; limits?: TaskConfig['limits'] };

export type TurnStart = {
  type: 'turn_start';
  turn: number;
  reason: ContinueReason;
  max_tokens: number;
  /** The budget that made `max_tokens` smaller than the model's own cap. */
  clamped_by?: LimitHit['reason'];
  concluding: boolean;
  /** The service itself is asked to sum up the history, in place of a reply. */
  summarize?: true;
};

/** One request to the service that did not become a reply. */
export type Attempt = {
  type: 'attempt';
  turn: number;
  attempt: number;
  max_attempts: number;
  model: string;
  status?: number;
  error_type?: string;
  message: string;
  request_id?: string;
  /** Absent: no further attempt follows. */
  wait_ms?: number;
  usage?: Usage;
  cost_usd?: number | null;
};

export type ModelReplyEvent = {
  type: 'model_reply';
  turn: number;
  model: string;
  message_id: string;
  request_id?: string;
  content: AssistantBlock[];
  stop_reason: StopReason;
  stop_reason_raw?: string;
  stop_details?: { category: string | null; explanation: string | null };
  usage: Usage;
  cost_usd: number | null;
  duration_ms: number;
  /** Why the service could not reuse its cache for this prompt, in its own word. */
  cache_miss_reason?: string;
};

export type ModelFailedEvent = { type: 'model_failed'; turn: number } & ModelFailure;

/** Why a turn did not come, after all attempts. `budget`: no further attempt fits; `deadline`: the ordinary time is over. */
export type ModelFailure =
  | {
      kind: 'api_error' | 'auth_error' | 'rate_limited' | 'context_exhausted';
      message: string;
      status?: number;
      request_id?: string;
    }
  | { kind: 'budget'; message: string; hit: LimitHit }
  | { kind: 'deadline'; message: string }
  | { kind: 'aborted'; message: string };

export type Verdict = 'allow' | 'deny' | 'terminate';

export type PolicyVerdictEvent = {
  type: 'policy_verdict';
  tool_use_id: string;
  name: string;
  verdict: Verdict;
  /** The rule that decided, as written in the task; absent when none matched. */
  rule?: string;
  reason?: string;
  /** SHA-256 of the input's text, to find a denied call again. */
  input_sha256: string;
};

export type ToolStart = {
  type: 'tool_start';
  tool_use_id: string;
  name: string;
  effect: 'read' | 'write';
  early: boolean;
};

export type ToolStatus =
  | 'ok'
  | 'error'
  | 'denied'
  | 'unknown'
  | 'invalid'
  | 'timed_out'
  | 'cancelled'
  | 'crashed'
  | 'refused'
  | 'over_limit'
  | 'interrupted';

export type ToolEnd = {
  type: 'tool_end';
  tool_use_id: string;
  name: string;
  status: ToolStatus;
  /** Exactly what the model is given. */
  content: ResultContent[];
  is_error: boolean;
  duration_ms: number;
  /** Bytes of the whole output before it was cut. */
  bytes: number;
  /** Path below the run folder of the whole output, when it was cut. */
  output_file?: string;
  /** The same call of an attempt that failed: its answer was taken over, and this one never started. */
  reused_from?: string;
};

export type UserMessageReason =
  | 'prompt'
  | 'next_prompt'
  | 'limit_reminder'
  | 'output_repair'
  | 'output_missing'
  | 'empty_reply'
  | 'verify_feedback'
  | 'compaction_request'
  | 'follow_up';

/** `limit` is set on a limit_reminder: from then on the run concludes. */
export type UserMessageEvent = {
  type: 'user_message';
  reason: UserMessageReason;
  content: UserBlock[];
  limit?: LimitHit;
};

export type OutputChecked = {
  type: 'output_checked';
  stage: 'schema' | 'gate';
  /** Which attempt at an output this is: one more than were refused before; absent for the gate. */
  attempt?: number;
  /** The submit call that carried it; absent for an output found in text. */
  tool_use_id?: string;
  ok: boolean;
  /** `missing`: there was nothing to check. */
  kind: 'valid' | 'invalid' | 'missing' | 'malformed';
  issues: OutputIssue[];
  /** The output's own JSON text (or plain text without a schema). */
  value_text?: string;
};

/** What the gate found, before it becomes an event. */
export type CheckResult = Omit<OutputChecked, 'type' | 'stage' | 'attempt' | 'tool_use_id'>;

export type VerifyEnd = {
  type: 'verify_end';
  index: number;
  command: string;
  ok: boolean;
  exit_code: number | null;
  timed_out: boolean;
  output: string;
  duration_ms: number;
};

export type Compacted = {
  type: 'compacted';
  /** The service's own summary, which stands first in the history from now on. */
  blocks?: AssistantBlock[];
  /** What the fresh conversation says to the model. */
  summary: UserBlock[];
  /** Of a summary that no reply gave; else it was billed with that reply. */
  usage: Usage;
  cost_usd: number | null;
};

export type TurnEnd = { type: 'turn_end'; turn: number; calls: number };

export type Notice = { type: 'notice'; level: 'info' | 'warning' | 'error'; code: string; message: string };

export type RunEnd = { type: 'run_end'; outcome: RunOutcome; exit_code: number; message: string };

export type EventBody =
  | RunStart
  | RunResume
  | TurnStart
  | Attempt
  | ModelReplyEvent
  | ModelFailedEvent
  | PolicyVerdictEvent
  | ToolStart
  | ToolEnd
  | UserMessageEvent
  | OutputChecked
  | VerifyEnd
  | Compacted
  | TurnEnd
  | Notice
  | RunEnd;

/** Numbered from 1, stamped in UTC; `run_id` is the same on every line of a run folder. */
export interface Stamp {
  seq: number;
  time: string;
  run_id: string;
}

export type RunEvent = Stamp & EventBody;

/** The reason carried by the run's AbortSignal: the first cause of the end. */
export type AbortCause =
  | { reason: 'cancelled'; signal: CancelSignal }
  | LimitHit
  | { reason: 'io_error' | 'internal_error'; detail: string };
