import { openCalls } from './state.ts';
import { answer, ask, end, replyText, say } from './step.ts';
import { summaryBlock } from './summary-block.ts';
import type { RunOutcome } from '../core/outcome.ts';
import type { RunState } from './state.ts';
import type { Advice, Step } from './step.ts';

/** A window counts as full from this share on: what a tool returns next must still fit. */
const FULL_SHARE = 0.85;
/** The share of a window that a reply is given at most when the task asks for more. */
const REPLY_SHARE = 0.1;
/** Empty replies in place of a summary. */
const MAX_EMPTY = 2;
/** The status of a service that has no capacity just now. */
const OVERLOADED = 529;

/** Before the window is full a summary is asked for; a run that is concluding has no turn left for one. */
export function contextFull(state: RunState, advice: Advice): Step | undefined {
  const { context_tokens } = advice;
  if (context_tokens === null || state.compacting || state.limit_reached) return undefined;
  const wanted = state.max_tokens ?? state.start?.task.model.max_tokens ?? 0;
  const needed = state.gauge + Math.min(wanted, context_tokens * REPLY_SHARE);
  if (needed <= context_tokens * FULL_SHARE) return undefined;
  // Nothing to summarise yet, or the summary did not help: the service decides whether it fits.
  if (state.compacted_in_row > 0 || state.messages.length < 2) return undefined;
  return summary(state, advice);
}

/** By the service where it offers that, else by the model, in words. */
function summary(state: RunState, advice: Advice): Step {
  if (!advice.summarizes || state.summarize_failed) return say('compaction_request', advice.texts.compactionRequest());
  return { ...ask(state, advice), reason: 'compaction', summarize: true };
}

/** The service gives its summary as a signed block; for whatever else it says the model is asked instead. */
export function summaryOfService(state: RunState, { texts }: Advice): Step | undefined {
  if (!state.turn?.summarize || !state.reply) return undefined;
  const block = summaryBlock(state.reply);
  return block ? { kind: 'compact', summary: block } : say('compaction_request', texts.compactionRequest());
}

/** A service that refuses the request itself, or has no capacity for it, may still answer an ordinary one. */
export function summaryRefused(state: RunState, { texts }: Advice): Step | undefined {
  const { failure, turn } = state;
  if (!turn?.summarize || failure?.kind !== 'api_error' || failure.status === undefined) return undefined;
  const down = failure.status >= 500 && failure.status !== OVERLOADED;
  return down ? undefined : say('compaction_request', texts.compactionRequest());
}

/** While a summary is awaited calls are not run, and the reply's text is the summary. */
export function summarised(state: RunState, { texts }: Advice): Step | undefined {
  const { reply } = state;
  if (!state.compacting || !reply) return undefined;
  if (reply.empty && reply.stop_reason === 'end_turn') {
    return state.empty_in_row < MAX_EMPTY ? say('compaction_request', texts.compactionRequest()) : end(noSummary());
  }
  if (reply.disposition !== 'kept') return undefined;
  const [call] = openCalls(state);
  if (call) return answer(call, 'refused', texts.compacting());
  const text = replyText(state).trim();
  return text === '' ? end(noSummary()) : { kind: 'compact', summary: text };
}

function noSummary(): RunOutcome {
  const detail = 'the context window is full, and the model gave no summary to go on from';
  return { reason: 'context_exhausted', detail };
}

/** A reply that the window cut: a summary may still fit where an answer did not. */
export function windowExceeded(state: RunState, advice: Advice): Step {
  const detail = 'the model stopped because its context window is full';
  const hopeless = state.compacting || state.compacted_in_row > 0 || state.limit_reached || state.messages.length < 2;
  return hopeless ? end({ reason: 'context_exhausted', detail }) : summary(state, advice);
}
