import type { AbortCause, EventBody, RunEvent, ToolEnd } from '../core/events.ts';
import type { RunOutcome } from '../core/outcome.ts';
import type { Texts } from '../core/texts.ts';

/** An abort that must have come before an event, else the run would have done something else. */
export interface DueAbort {
  cause: AbortCause;
  /** False: only the time for ordinary turns was over. */
  whole: boolean;
}

/** What an aborted run still records. */
const CLOSING: ReadonlySet<EventBody['type']> = new Set([
  'policy_verdict',
  'tool_end',
  'turn_end',
  'model_failed',
  'notice',
  'run_end',
]);

const REASONS = ['timeout', 'cancelled', 'io_error', 'internal_error'] as const;

/** The abort that the event at `index` shows; undefined when it comes without one. */
export function abortBefore(
  events: readonly RunEvent[],
  index: number,
  { texts, timeout_ms }: { texts: Texts; timeout_ms: number },
): DueAbort | undefined {
  const event = events[index];
  if (!event) return undefined;
  const rest = events.slice(index);
  if (event.type === 'run_end') {
    const cause = causeOf(event.outcome);
    return cause && { cause, whole: true };
  }
  const end = cutCall(event, rest);
  if (!end) return undefined;
  const last = rest.at(-1);
  const ended = last?.type === 'run_end' && rest.every(({ type }) => CLOSING.has(type)) ? last.outcome : undefined;
  const cause = ended && causeOf(ended);
  return cause ? { cause, whole: true } : unseen(end, { texts, timeout_ms });
}

/** A fault that ended the run where it was, without any closing. */
export function isFault({ reason }: RunOutcome): boolean {
  return ['io_error', 'internal_error', 'config_error', 'mcp_unavailable', 'sandbox_unavailable'].includes(reason);
}

/** The result of a cut call, when this event is the first that depends on the cut. */
function cutCall(event: RunEvent, rest: readonly RunEvent[]): ToolEnd | undefined {
  if (event.type === 'tool_end') return event.status === 'cancelled' ? event : undefined;
  if (event.type !== 'policy_verdict' || event.verdict !== 'allow') return undefined;
  const next = rest
    .slice(1)
    .find((one) => (one.type === 'tool_start' || one.type === 'tool_end') && one.tool_use_id === event.tool_use_id);
  return next?.type === 'tool_end' && next.status === 'cancelled' ? next : undefined;
}

function causeOf(outcome: RunOutcome): AbortCause | undefined {
  switch (outcome.reason) {
    case 'cancelled':
    case 'timeout':
      return outcome;
    case 'io_error':
    case 'internal_error':
      return { reason: outcome.reason, detail: outcome.detail };
    default:
      return undefined;
  }
}

/** The run went on afterwards, or died: the answer to the call says what cut it. */
function unseen(
  { content }: ToolEnd,
  { texts, timeout_ms }: { texts: Texts; timeout_ms: number },
): DueAbort | undefined {
  const said = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const reason = REASONS.find((one) => said.includes(texts.cut(one))) ?? 'timeout';
  if (reason === 'timeout') return { cause: { reason, limit: timeout_ms, used: timeout_ms }, whole: false };
  if (reason === 'cancelled') return { cause: { reason, signal: 'SIGTERM' }, whole: true };
  return { cause: { reason, detail: '' }, whole: true };
}
