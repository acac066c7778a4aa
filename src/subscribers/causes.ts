import type { RunEvent } from '../core/events.ts';
import type { ExitReason } from '../core/outcome.ts';

/** Events that can be what ended a run, by what makes them one. */
type Cause = 'reply' | 'failure' | 'denial' | 'check' | 'verify' | 'limit';

const CAUSES = {
  completed: [],
  skipped: [],
  internal_error: [],
  io_error: [],
  config_error: [],
  mcp_unavailable: [],
  sandbox_unavailable: [],
  cancelled: [],
  output_invalid: ['check'],
  output_missing: ['check', 'reply'],
  truncated: ['reply'],
  max_turns: ['limit', 'reply'],
  max_input_tokens: ['limit', 'reply'],
  max_output_tokens: ['limit', 'reply'],
  max_total_tokens: ['limit', 'reply'],
  max_cost: ['limit', 'reply'],
  max_tool_calls: ['limit', 'reply'],
  timeout: ['limit'],
  context_exhausted: ['failure', 'reply'],
  max_denials: ['denial'],
  denied: ['denial'],
  api_error: ['failure', 'reply'],
  auth_error: ['failure'],
  rate_limited: ['failure'],
  refused: ['reply'],
  verify_failed: ['verify'],
  gate_failed: ['check'],
} as const satisfies Record<ExitReason, readonly Cause[]>;

/** Remembers where in the transcript things happened, to name the line that ended the run. */
export function createCauses(): { note(event: RunEvent): void; lineOf(end: Ending): number } {
  const last = new Map<Cause, number>();
  return {
    note(event) {
      const cause = causeOf(event);
      if (cause) last.set(cause, event.seq);
    },
    lineOf(end) {
      const wanted: readonly Cause[] = CAUSES[end.outcome.reason];
      const found = wanted.map((cause) => last.get(cause)).find((seq) => seq !== undefined);
      return found ?? end.seq;
    },
  };
}

type Ending = Extract<RunEvent, { type: 'run_end' }>;

function causeOf(event: RunEvent): Cause | undefined {
  switch (event.type) {
    case 'model_reply':
      return 'reply';
    case 'model_failed':
      return 'failure';
    case 'policy_verdict':
      return event.verdict === 'allow' ? undefined : 'denial';
    case 'output_checked':
      return event.ok ? undefined : 'check';
    case 'verify_end':
      return event.ok ? undefined : 'verify';
    case 'user_message':
      return event.limit ? 'limit' : undefined;
    default:
      return undefined;
  }
}
