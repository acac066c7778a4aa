import { windowExceeded } from './next-compact.ts';
import { end, limitStep, say } from './step.ts';
import type { LimitHit } from '../core/outcome.ts';
import type { Ledger } from '../core/ports.ts';
import type { Advice, Step } from './step.ts';
import type { RunState } from './state.ts';

/** Turns cut by `max_tokens` in a row before the run gives up (field report B005). */
const MAX_TRUNCATED = 3;
/** Server-side tool loops that may pause in a row. */
const MAX_PAUSES = 10;
const MAX_EMPTY = 2;

/** What a reply's stop_reason demands, whatever it holds; undefined when the content decides. */
export function afterReply(state: RunState, advice: Advice): Step | undefined {
  const { reply } = state;
  if (!reply) return undefined;
  switch (reply.stop_reason) {
    case 'refusal':
      return end({
        reason: 'refused',
        category: reply.stop_details?.category ?? null,
        explanation: reply.stop_details?.explanation ?? null,
      });
    case 'model_context_window_exceeded':
      return windowExceeded(state, advice);
    case 'max_tokens':
      return truncated(state, advice);
    case 'compaction':
    case 'unknown': {
      const value = reply.stop_reason_raw ?? reply.stop_reason;
      return end({
        reason: 'api_error',
        detail: `the reply ended with a stop_reason this version does not know: "${value}"`,
      });
    }
    case 'pause_turn':
      return paused(state);
    default:
      return reply.empty ? emptyReply(state, advice) : undefined;
  }
}

function truncated(state: RunState, advice: Advice): Step | undefined {
  if (state.limit_reached) return end(state.limit_reached);
  const clamp = state.turn?.clamped_by;
  if (clamp) return limitStep(state, advice, clampHit(state, clamp));
  if (state.truncated_in_row < MAX_TRUNCATED) return undefined;
  return end({ reason: 'truncated', max_tokens: state.turn?.max_tokens ?? 0, attempts: state.truncated_in_row });
}

/** The budget whose rest was too small for the reply that was cut. */
function clampHit(state: RunState, reason: LimitHit['reason']): LimitHit {
  const limits = state.start?.task.limits;
  const value: Partial<Record<LimitHit['reason'], [number | null | undefined, (ledger: Ledger) => number]>> = {
    max_output_tokens: [limits?.max_output_tokens, (l) => l.total.output_tokens],
    max_total_tokens: [limits?.max_total_tokens, (l) => totalTokens(l)],
    max_cost: [limits?.max_cost_usd, (l) => l.cost_usd ?? 0],
  };
  const [limit, used] = value[reason] ?? [0, () => 0];
  return { reason, limit: limit ?? 0, used: used(state.ledger) };
}

function totalTokens({ total }: Ledger): number {
  return total.input_tokens + total.cache_creation_input_tokens + total.cache_read_input_tokens + total.output_tokens;
}

function paused(state: RunState): Step | undefined {
  if (state.pauses_in_row <= MAX_PAUSES) return undefined;
  return end({ reason: 'api_error', detail: `the service paused the turn ${state.pauses_in_row} times in a row` });
}

/** An empty reply is a failed turn: it is asked about once, never waited for. */
function emptyReply(state: RunState, advice: Advice): Step {
  if (state.limit_reached) return end(state.limit_reached);
  if (state.empty_in_row < MAX_EMPTY) return say('empty_reply', advice.texts.emptyReply());
  return end({ reason: 'output_missing', detail: `empty response ${state.empty_in_row} times in a row` });
}
