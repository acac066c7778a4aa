import { createHash } from 'node:crypto';
import { isJsonObject, stringifyJson } from '../core/json.ts';
import { LOST_INPUT } from '../model/replay.ts';
import type { EventBody, RunEvent } from '../core/events.ts';
import type { JsonValue } from '../core/json.ts';

/** Where an event of the replay is not what was recorded. */
export interface Difference {
  /** Inside the event: "content[0].text"; '' for the event as a whole. */
  path: string;
  /** null where there is nothing. */
  expected: JsonValue;
  got: JsonValue;
}

const LOST_SHA256 = createHash('sha256').update(LOST_INPUT).digest('hex');

/** The first difference of an event from the recorded one; what is only measured is not compared. */
export function compareEvents(recorded: RunEvent, got: EventBody, live: boolean): Difference | undefined {
  const { seq: _seq, time: _time, run_id: _run_id, ...expected } = recorded;
  return firstDifference(plain(expected), plain(normalised(expected, got, live)), '');
}

/** The event with the recorded values where two runs never agree. */
export function normalised(expected: EventBody, got: EventBody, live: boolean): EventBody {
  if (got.type === 'policy_verdict' && expected.type === 'policy_verdict') {
    return got.input_sha256 === LOST_SHA256 ? { ...got, input_sha256: expected.input_sha256 } : got;
  }
  if (got.type === 'verify_end' && expected.type === 'verify_end') {
    return { ...got, duration_ms: expected.duration_ms };
  }
  if (got.type !== 'tool_end' || expected.type !== 'tool_end') return got;
  const { duration_ms, content, bytes } = expected;
  // What a call had printed when it was cut is a matter of milliseconds.
  const cut = live && got.status === expected.status && (got.status === 'cancelled' || got.status === 'timed_out');
  return { ...got, duration_ms, ...(cut ? { content, bytes } : {}) };
}

function plain(value: unknown): JsonValue {
  return JSON.parse(stringifyJson(value)) as JsonValue; // written by stringifyJson just now
}

function firstDifference(expected: JsonValue, got: JsonValue, path: string): Difference | undefined {
  if (Array.isArray(expected) && Array.isArray(got)) return listDifference(expected, got, path);
  if (!isJsonObject(expected) || !isJsonObject(got)) {
    return Object.is(expected, got) ? undefined : { path, expected, got };
  }
  // The type first: events of two kinds differ in everything else as well.
  const keys = [...new Set(['type', ...Object.keys(expected), ...Object.keys(got)])];
  for (const key of keys) {
    const inner = path === '' ? key : `${path}.${key}`;
    const difference = firstDifference(expected[key] ?? null, got[key] ?? null, inner);
    if (difference) return difference;
  }
  return undefined;
}

function listDifference(expected: JsonValue[], got: JsonValue[], path: string): Difference | undefined {
  for (let index = 0; index < Math.max(expected.length, got.length); index += 1) {
    const difference = firstDifference(expected[index] ?? null, got[index] ?? null, `${path}[${index}]`);
    if (difference) return difference;
  }
  return undefined;
}
