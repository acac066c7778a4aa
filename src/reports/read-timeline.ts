// The events of a transcript as rows of the page, one event at a time.

import { showSpan } from '../core/figures.ts';
import { textField } from './fields.ts';
import { EVENT_ROWS } from './timeline-rows.ts';
import { readTranscript } from './transcript-lines.ts';
import type { JsonObject } from '../core/json.ts';
import type { Timeline } from './timeline.ts';

const MAX_PROBLEMS = 20;

/** Reads a transcript into the timeline, pausing after each event so that the caller can write what is ready. */
export async function* readTimeline(timeline: Timeline, path: string): AsyncGenerator<void, string[]> {
  const problems: string[] = [];
  let began_ms = Number.NaN;
  let more = 0;
  for await (const item of readTranscript(path)) {
    if (item.kind === 'problem' && problems.length >= MAX_PROBLEMS) more += 1;
    else if (item.kind === 'problem') problems.push(item.problem);
    else {
      if (Number.isNaN(began_ms)) began_ms = Date.parse(textField(item.event, 'time'));
      takeEvent(timeline, item.event, { line: item.line, began_ms });
      yield;
    }
  }
  if (more > 0) problems.push(`${path} has ${more} more lines that cannot be read; they are left out`);
  closeTimeline(timeline);
  if (timeline.left_out > 0)
    problems.push(`${path} has more events than a page shows; ${timeline.left_out} rows are left out`);
  return problems;
}

/** Takes one event over; events that the page does not know are passed over. */
function takeEvent(
  timeline: Timeline,
  event: JsonObject,
  { line, began_ms }: { line: number; began_ms: number },
): void {
  const time = Date.parse(textField(event, 'time'));
  timeline.line = line;
  timeline.at = Number.isNaN(time) || Number.isNaN(began_ms) ? '' : `+${showSpan(time - began_ms)}`;
  const type = textField(event, 'type');
  const make = Object.hasOwn(EVENT_ROWS, type) ? EVENT_ROWS[type] : undefined;
  make?.(timeline, event);
}

/** Calls that a reply asked for and nothing answered: the run was killed meanwhile. */
function closeTimeline(timeline: Timeline): void {
  for (const [id, { name, summary, input }] of timeline.calls) {
    const row = { kind: 'call', tone: 'warn', title: name, badge: 'no answer', summary, meta: '' } as const;
    timeline.add(row, [['Input', input]]);
    timeline.close(id);
  }
}
