import { describe, expect, test } from 'vitest';
import { next } from '../../src/agent/next.ts';
import { advice, call, checked, ended, prompt, reduced, reply, runStart, text, turn } from './story.ts';
import type { EventBody } from '../../src/core/events.ts';
import type { LimitHit } from '../../src/core/outcome.ts';
import type { StoryOptions } from './story.ts';

function stepAfter(events: EventBody[], options: StoryOptions) {
  return next(reduced([runStart(options), ...events]), advice(options));
}

const TURNS: LimitHit = { reason: 'max_turns', limit: 2, used: 1 };
const reminder: EventBody = {
  type: 'user_message',
  reason: 'limit_reminder',
  content: [{ type: 'text', text: 'last turn' }],
  limit: TURNS,
};
const oneTurn = [prompt, turn(), reply([call('a')]), ended('a')];
const concluded = [...oneTurn, reminder, turn(2, { concluding: true })];

describe('on_limit: stop', () => {
  test('ends as soon as another turn would not fit', () => {
    expect(stepAfter(oneTurn, { limits: { max_turns: 1 } })).toEqual({
      kind: 'end',
      outcome: { reason: 'max_turns', limit: 1, used: 1 },
    });
  });
});

describe('on_limit: finalize', () => {
  const options: StoryOptions = { limits: { max_turns: 2, on_limit: 'finalize' } };

  test('keeps one turn back and asks for a conclusion in it', () => {
    expect(stepAfter(oneTurn, options)).toMatchObject({ kind: 'say', reason: 'limit_reminder', limit: TURNS });
    expect(stepAfter([...oneTurn, reminder], options)).toMatchObject({
      kind: 'ask',
      turn: 2,
      concluding: true,
      reason: 'finalize',
    });
  });

  test('with max_turns 1 the only turn is the conclusion', () => {
    const one: StoryOptions = { limits: { max_turns: 1, on_limit: 'finalize' } };
    expect(stepAfter([prompt], one)).toMatchObject({ kind: 'say', reason: 'limit_reminder' });
  });

  test('in the conclusion calls are answered with an error, never run', () => {
    const step = stepAfter([...concluded, reply([call('b')])], options);
    expect(step).toMatchObject({
      kind: 'answer',
      status: 'refused',
      is_error: true,
      text: expect.stringContaining('turn limit'),
    });
  });

  test('a valid output counts as completed and names the limit', () => {
    const step = stepAfter([...concluded, reply([text('so far')]), checked(true)], options);
    expect(step).toEqual({ kind: 'end', outcome: { reason: 'completed', limit_reached: TURNS } });
  });

  test('no valid output ends with the limit', () => {
    expect(stepAfter([...concluded, reply([text('?')]), checked(false)], options)).toEqual({
      kind: 'end',
      outcome: TURNS,
    });
  });

  test('a conclusion that is cut, empty or fails ends with the limit', () => {
    const failure: EventBody = { type: 'model_failed', turn: 2, kind: 'api_error', message: 'down' };
    for (const event of [reply([text('x')], 'max_tokens'), reply([]), failure]) {
      expect(stepAfter([...concluded, event], options)).toEqual({ kind: 'end', outcome: TURNS });
    }
  });

  test('a limit before the last prompt of a list asks for no conclusion', () => {
    const list: StoryOptions = { ...options, task: { prompts: ['one', 'two'] } };
    expect(stepAfter(oneTurn, list)).toEqual({ kind: 'end', outcome: TURNS });
  });

  test('finalize_fail keeps the output and the limit’s code', () => {
    const fail: StoryOptions = { limits: { max_turns: 2, on_limit: 'finalize_fail' } };
    expect(stepAfter([...concluded, reply([text('so far')]), checked(true)], fail)).toEqual({
      kind: 'end',
      outcome: TURNS,
    });
  });

  test('a reply cut by the clamp of a budget ends with that budget', () => {
    const clamp: StoryOptions = { limits: { max_output_tokens: 5, on_limit: 'stop' } };
    const step = stepAfter(
      [prompt, turn(1, { max_tokens: 5, clamped_by: 'max_output_tokens' }), reply([text('ha')], 'max_tokens')],
      clamp,
    );
    expect(step).toEqual({ kind: 'end', outcome: { reason: 'max_output_tokens', limit: 5, used: 5 } });
  });

  test('the end of the ordinary time asks for a conclusion', () => {
    const failure: EventBody = { type: 'model_failed', turn: 1, kind: 'deadline', message: 'time' };
    const late = [prompt, turn(), failure];
    expect(stepAfter(late, options)).toMatchObject({ kind: 'say', limit: { reason: 'timeout' } });
    expect(stepAfter([...late, reminder], options)).toMatchObject({ kind: 'ask', concluding: true });
  });
});
