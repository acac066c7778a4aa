// How a run ends: closed unions and the records over them. Codes never change meaning (contract, section 2).

export const LIMIT_REASONS = [
  'max_turns',
  'max_input_tokens',
  'max_output_tokens',
  'max_total_tokens',
  'max_cost',
  'max_tool_calls',
  'timeout',
  'context_exhausted',
] as const;
export type LimitReason = (typeof LIMIT_REASONS)[number];

export type ExitReason =
  | 'completed'
  | 'skipped'
  | 'internal_error'
  | 'io_error'
  | 'config_error'
  | 'mcp_unavailable'
  | 'output_invalid'
  | 'output_missing'
  | 'truncated'
  | LimitReason
  | 'max_denials'
  | 'denied'
  | 'sandbox_unavailable'
  | 'api_error'
  | 'auth_error'
  | 'rate_limited'
  | 'refused'
  | 'verify_failed'
  | 'gate_failed'
  | 'cancelled';

/** Why the run asks the model again. */
export type ContinueReason =
  | 'prompt'
  | 'tool_results'
  | 'tool_denied'
  | 'call_repair'
  | 'output_missing'
  | 'output_repair'
  | 'pause_turn'
  | 'resume_truncated'
  | 'compaction'
  | 'context_compacted'
  | 'verify_feedback'
  | 'finalize'
  | 'next_prompt';

/** A limit that was reached: its name, its value and what was used, in the limit's own unit (turns, tokens, USD, ms). */
export interface LimitHit {
  reason: Exclude<LimitReason, 'context_exhausted'>;
  limit: number;
  used: number;
}

export type CancelSignal = 'SIGHUP' | 'SIGINT' | 'SIGTERM';

/** One problem of an output: where (JSON pointer, '' is the root) and what. */
export interface OutputIssue {
  pointer: string;
  message: string;
}

/** What mends a mistake: something to do first, and what the same command lacks. */
export interface NextStep {
  first?: string;
  args?: string;
}

export type RunOutcome =
  | { reason: 'completed'; limit_reached?: LimitHit }
  | { reason: 'skipped'; detail: string }
  | {
      reason: 'internal_error' | 'io_error' | 'config_error' | 'mcp_unavailable' | 'sandbox_unavailable';
      detail: string;
      /** What to do first, where it is known better than from the reason. */
      next?: NextStep;
    }
  | { reason: 'output_invalid'; issues: OutputIssue[]; attempts: number }
  | { reason: 'output_missing'; detail: string }
  | { reason: 'truncated'; max_tokens: number; attempts: number }
  | LimitHit
  | { reason: 'context_exhausted'; detail: string }
  | { reason: 'max_denials'; limit: number; used: number }
  | { reason: 'denied'; tool: string; detail: string }
  | { reason: 'api_error' | 'auth_error' | 'rate_limited'; detail: string; status?: number; request_id?: string }
  | { reason: 'refused'; category: string | null; explanation: string | null }
  | { reason: 'verify_failed'; command: string; exit_code: number | null; attempts: number }
  | { reason: 'gate_failed'; issues: OutputIssue[] }
  | { reason: 'cancelled'; signal: CancelSignal };

const SIGNAL_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const satisfies Record<CancelSignal, number>;

/** Exit code of each reason; `cancelled` depends on the signal. */
export const EXIT_CODES = {
  completed: 0,
  skipped: 0,
  internal_error: 1,
  io_error: 1,
  config_error: 2,
  mcp_unavailable: 2,
  output_invalid: 3,
  output_missing: 3,
  truncated: 3,
  max_turns: 4,
  max_input_tokens: 4,
  max_output_tokens: 4,
  max_total_tokens: 4,
  max_cost: 4,
  max_tool_calls: 4,
  timeout: 4,
  context_exhausted: 4,
  max_denials: 5,
  denied: 5,
  sandbox_unavailable: 5,
  api_error: 6,
  auth_error: 6,
  rate_limited: 6,
  refused: 7,
  verify_failed: 8,
  gate_failed: 9,
  cancelled: SIGNAL_CODES,
} as const satisfies Record<ExitReason, number | Record<CancelSignal, number>>;

/** The process code of an outcome. */
export function exitCode(outcome: RunOutcome): number {
  return outcome.reason === 'cancelled' ? SIGNAL_CODES[outcome.signal] : EXIT_CODES[outcome.reason];
}

export type RunStatus = 'success' | 'failure' | 'cancelled';

/** `status` of result.json: success if and only if the code is 0. */
export function runStatus(outcome: RunOutcome): RunStatus {
  if (outcome.reason === 'cancelled') return 'cancelled';
  return exitCode(outcome) === 0 ? 'success' : 'failure';
}

/** One kept for each exit reason that the exit-reasons page and messages know. */
export const EXIT_REASONS = Object.keys(EXIT_CODES) as ExitReason[]; // keys of the record above, nothing else

// Worst first (contract, section 2); codes of signals stand before all others.
const WORST_FIRST = [143, 130, 129, 1, 2, 5, 6, 7, 4, 3, 8, 9, 0];

/** The code a batch ends with; an unknown code counts as the worst, no code at all as 0. */
export function worstCode(codes: readonly number[]): number {
  const rank = (code: number): number => WORST_FIRST.indexOf(code);
  return codes.reduce((worst, code) => (rank(code) < rank(worst) ? code : worst), 0);
}
