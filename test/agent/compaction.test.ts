import { describe, expect, test } from 'vitest';
import { next } from '../../src/agent/next.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { advice, call, ended, prompt, reduced, reply, runStart, text, turn } from './story.ts';
import type { EventBody } from '../../src/core/events.ts';
import type { StoryOptions } from './story.ts';

const OPTIONS: StoryOptions = { context_tokens: 10_000 };
const usage = { ...NO_USAGE, input_tokens: 8500, output_tokens: 100 };
/** A turn whose prompt already filled most of the window. */
const large = [prompt, turn(), reply([call('a')], 'tool_use', { usage }), ended('a')];
const asked: EventBody = {
  type: 'user_message',
  reason: 'compaction_request',
  content: [{ type: 'text', text: 'summarise' }],
};
const asking = [...large, asked, turn(2, { reason: 'compaction' })];
const compacted: EventBody = {
  type: 'compacted',
  summary: [{ type: 'text', text: 'so far' }],
  usage: NO_USAGE,
  cost_usd: 0,
};

function stepAfter(events: EventBody[], options: StoryOptions = OPTIONS) {
  return next(reduced([runStart(options), ...events]), advice(options));
}

describe('a window that is almost full', () => {
  test('is noticed by the size of the last prompt and what was added, before the next request', () => {
    expect(stepAfter(large)).toMatchObject({ kind: 'say', reason: 'compaction_request' });
    expect(stepAfter([...large, asked])).toMatchObject({ kind: 'ask', reason: 'compaction' });
  });

  test('does not matter when its size is unknown', () => {
    expect(stepAfter(large, {})).toMatchObject({ kind: 'ask', reason: 'tool_results' });
  });

  test('counts a large tool result that no request has carried yet', () => {
    const small = reply([call('a')], 'tool_use', { usage: { ...NO_USAGE, input_tokens: 100 } });
    expect(stepAfter([prompt, turn(), small, ended('a', 'ok', 'x'.repeat(40_000))])).toMatchObject({
      reason: 'compaction_request',
    });
  });

  test('is not summarised in the turn that concludes the run', () => {
    const limit = { reason: 'max_turns', limit: 2, used: 1 } as const;
    const reminder: EventBody = { type: 'user_message', reason: 'limit_reminder', content: [], limit };
    expect(stepAfter([...large, reminder])).toMatchObject({ kind: 'ask', concluding: true });
  });
});

describe('while a summary is awaited', () => {
  test('calls are answered, not run', () => {
    expect(stepAfter([...asking, reply([call('b')])])).toMatchObject({ kind: 'answer', status: 'refused' });
  });

  test('the text of the reply is the summary', () => {
    expect(stepAfter([...asking, reply([text('done: a; to do: b')])])).toEqual({
      kind: 'compact',
      summary: 'done: a; to do: b',
    });
  });

  test('a reply without text ends the run', () => {
    expect(stepAfter([...asking, reply([call('b')]), ended('b', 'refused')])).toMatchObject({
      outcome: { reason: 'context_exhausted' },
    });
  });
});

describe('after a compaction', () => {
  const after = [...asking, reply([text('so far')]), compacted];

  test('the run goes on in a fresh conversation, with its turns and tokens still counted', () => {
    const state = reduced([runStart(OPTIONS), ...after]);
    expect(state.messages).toEqual([]);
    expect(state.said).toEqual([{ type: 'text', text: 'so far' }]);
    expect(state.ledger).toMatchObject({ turns: 2, total: { input_tokens: 8510 } });
    expect(next(state, advice(OPTIONS))).toMatchObject({ kind: 'ask', turn: 3, reason: 'context_compacted' });
  });

  test('a summary that does not help is not asked for again', () => {
    const still = reply([call('c')], 'tool_use', { usage });
    const step = stepAfter([
      ...asking,
      reply([text('x'.repeat(40_000))]),
      { ...compacted, summary: [{ type: 'text', text: 'x'.repeat(40_000) }] },
    ]);
    expect(step).toMatchObject({ kind: 'ask' });
    expect(stepAfter([...after, turn(3), still, ended('c')])).toMatchObject({ reason: 'compaction_request' });
  });

  test('a window that overflows twice ends the run', () => {
    const cut = reply([text('half')], 'model_context_window_exceeded');
    expect(stepAfter([...large, turn(2), cut])).toMatchObject({ kind: 'say', reason: 'compaction_request' });
    expect(stepAfter([...after, turn(3), cut])).toMatchObject({ outcome: { reason: 'context_exhausted' } });
  });
});

describe('where the service sums up by itself', () => {
  const asked = [...large, turn(2, { reason: 'compaction', summarize: true })];
  const failed = (status?: number): EventBody => ({
    type: 'model_failed',
    turn: 2,
    kind: 'api_error',
    message: 'm',
    ...(status === undefined ? {} : { status }),
  });

  function step(events: EventBody[]) {
    return next(reduced([runStart(OPTIONS), ...events]), { ...advice(OPTIONS), summarizes: true });
  }

  test('it is asked before the window is full, and when a reply was cut by it', () => {
    expect(step(large)).toMatchObject({ kind: 'ask', turn: 2, reason: 'compaction', summarize: true });
    const cut = reply([text('half')], 'model_context_window_exceeded');
    expect(step([...large, turn(2), cut])).toMatchObject({ kind: 'ask', turn: 3, summarize: true });
  });

  test('its block replaces the history, and its turn is counted', () => {
    const json = '{"type":"compaction","content":"so far","signature":"s"}';
    const block = { type: 'opaque' as const, json };
    const answered = [...asked, reply([block], 'compaction')];
    expect(step(answered)).toEqual({ kind: 'compact', summary: block });
    const state = reduced([runStart(OPTIONS), ...answered, { ...compacted, blocks: [block] }]);
    expect(state.messages).toEqual([{ role: 'assistant', content: [block] }]);
    expect(state.ledger.turns).toBe(2);
  });

  test.each([400, 404, 529])('a refusal with status %s is no end: the model is asked in words', (status) => {
    expect(step([...asked, failed(status)])).toMatchObject({ kind: 'say', reason: 'compaction_request' });
  });

  test.each([500, 503, undefined])('a service that is down (%s) would not answer in words either', (status) => {
    expect(step([...asked, failed(status)])).toMatchObject({ kind: 'end', outcome: { reason: 'api_error' } });
  });
});
