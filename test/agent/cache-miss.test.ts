import { expect, test } from 'vitest';
import { next } from '../../src/agent/next.ts';
import { reduce } from '../../src/agent/reduce.ts';
import { EMPTY_STATE } from '../../src/agent/state.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { advice, call, ended, prompt, reply, runStart, stamped, turn } from './story.ts';
import type { EventBody } from '../../src/core/events.ts';
import type { RunState } from '../../src/agent/state.ts';

const cached = { ...NO_USAGE, cache_creation_input_tokens: 5000 };
const first = [runStart(), prompt, turn(), reply([call('a')], 'tool_use', { usage: cached }), ended('a'), turn(2)];
const missed = reply([call('b')], 'tool_use', { usage: cached });

/** The state after these events, the last of them `later_ms` after the others. */
function late(events: EventBody[], later_ms: number): RunState {
  const all = stamped(events);
  const time = (at: string): string => new Date(Date.parse(at) + later_ms).toISOString();
  return all
    .map((event, index) => (index < all.length - 1 ? event : { ...event, time: time(event.time) }))
    .reduce(reduce, EMPTY_STATE);
}

const step = (state: RunState) => next(state, { ...advice(), diagnoses_cache: true });

test('what the cache should still hold and does not give is told', () => {
  expect(step(late([...first, missed], 0))).toMatchObject({ kind: 'warn', code: 'cache_nothing_read' });
});

test('a cache that has run out is no miss', () => {
  expect(step(late([...first, missed], 5 * 60_000))).toMatchObject({ kind: 'act' });
});

test('after a compaction the prompt is another one', () => {
  const compacted: EventBody = { type: 'compacted', summary: [], usage: NO_USAGE, cost_usd: 0 };
  const state = late([...first.slice(0, -1), compacted, turn(2), missed], 0);
  expect(step(state)).toMatchObject({ kind: 'act' });
  expect(late([...first, missed, ended('b'), compacted], 0).last_message_id).toBeUndefined();
});

test('a warning that was given is not given again', () => {
  const notice: EventBody = { type: 'notice', level: 'warning', code: 'cache_nothing_read', message: 'm' };
  expect(step(late([...first, missed, notice], 0))).toMatchObject({ kind: 'act' });
});
