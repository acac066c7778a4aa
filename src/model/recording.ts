import { toolUses } from '../core/messages.ts';
import type { Attempt, EventBody, ModelFailedEvent, ModelReplyEvent, Stamp, ToolEnd } from '../core/events.ts';

/** A call that was started while a reply streamed that never came whole: its input was not recorded. */
export interface LostCall {
  id: string;
  name: string;
  /** Known when the reply asked the same again and took over this call's answer. */
  input_json?: string;
}

/** A failed attempt and the calls it had handed out before. */
export interface RecordedAttempt {
  event: Attempt;
  lost: LostCall[];
}

/** What the model's side of one turn recorded. */
export interface RecordedTurn {
  turn: number;
  attempts: RecordedAttempt[];
  /** Absent: the run stopped while the turn was open. */
  end?: ModelReplyEvent | ModelFailedEvent;
  /** Calls of a last attempt that ended in no reply. */
  lost: LostCall[];
}

/** The turns of a transcript, or of a part of one, in the order they were asked; a turn that was asked again stands twice. */
export function readTurns(events: readonly EventBody[]): RecordedTurn[] {
  const turns: RecordedTurn[] = [];
  for (const event of events) {
    const turn = turns.at(-1);
    if (event.type === 'turn_start') turns.push({ turn: event.turn, attempts: [], lost: [] });
    else if (turn && !turn.end) onOpenTurn(turn, withoutStamp(event));
    else if (turn && event.type === 'tool_end') onAnswer(turn, event);
  }
  return turns;
}

/** Takes an event between a request and its reply; what was started early so far is lost with a failed attempt. */
function onOpenTurn(turn: RecordedTurn, event: EventBody): void {
  switch (event.type) {
    case 'tool_start':
      turn.lost.push({ id: event.tool_use_id, name: event.name });
      break;
    case 'attempt':
      turn.attempts.push({ event, lost: turn.lost });
      turn.lost = [];
      break;
    case 'model_reply':
      turn.end = event;
      turn.lost = [];
      break;
    case 'model_failed':
      turn.end = event;
      break;
    default:
  }
}

/** A call that took over an answer is the same as the one that got it. */
function onAnswer({ end, attempts }: RecordedTurn, { tool_use_id, reused_from }: ToolEnd): void {
  if (reused_from === undefined || end?.type !== 'model_reply') return;
  const asked = toolUses(end.content).find(({ id }) => id === tool_use_id);
  const first = attempts.flatMap(({ lost }) => lost).find(({ id }) => id === reused_from);
  if (asked && first) first.input_json = asked.input_json;
}

/** Transcripts stamp what they hold; a model's side of it knows nothing of that. */
function withoutStamp(event: EventBody & Partial<Stamp>): EventBody {
  const { seq: _seq, time: _time, run_id: _run_id, ...body } = event;
  return body;
}
