import { describe, expect, test } from 'vitest';
import { EXIT_REASONS } from '../../src/core/outcome.ts';
import { finalOutput } from '../../src/run/output.ts';
import { reply, runStart, stateOf, taskConfig, validOutput } from '../helpers/events.ts';
import type { RunState } from '../../src/agent/state.ts';
import type { EventBody } from '../../src/core/events.ts';
import type { RunOutcome } from '../../src/core/outcome.ts';

const HIT = { reason: 'max_turns', limit: 2, used: 2 } as const;
const REMINDER: EventBody = { type: 'user_message', reason: 'limit_reminder', content: [], limit: HIT };

function stateWith(on_limit: 'finalize' | 'finalize_fail' | 'stop', ...bodies: EventBody[]): RunState {
  const limits = { ...taskConfig().limits, on_limit };
  return stateOf([runStart({ task: taskConfig({ limits }), output_mode: 'native' }), ...bodies]);
}

const valid = stateWith('finalize', reply(), validOutput('{"a":1.0}'));

test('a JSON output keeps the spelling that was validated', () => {
  expect(finalOutput({ reason: 'completed' }, valid)).toEqual({
    name: 'output.json',
    text: '{"a":1.0}',
    value: { a: 1 },
  });
});

test('without a schema the output is the final text', () => {
  const state = stateOf([runStart(), reply(), validOutput('# Notes')]);
  expect(finalOutput({ reason: 'completed' }, state)).toEqual({ name: 'output.md', text: '# Notes', value: '# Notes' });
});

describe('an output exists only with an ending that vouches for it', () => {
  const kept = new Set(['completed', 'verify_failed', 'gate_failed']);

  test.each(EXIT_REASONS)('%s', (reason) => {
    const outcome = { reason } as RunOutcome; // only the reason decides
    expect(finalOutput(outcome, valid) !== null).toBe(kept.has(reason));
  });

  test('a limit keeps it with finalize_fail, when it was the conclusion that was asked for', () => {
    const concluded = [REMINDER, reply(), validOutput('1')];
    expect(finalOutput(HIT, stateWith('finalize_fail', ...concluded))?.text).toBe('1');
    expect(finalOutput(HIT, stateWith('finalize', ...concluded))).toBeNull();
    expect(finalOutput(HIT, stateWith('finalize_fail', reply(), validOutput('1')))).toBeNull();
  });

  test('an earlier output that was sent back for work is not the output of a run that then failed', () => {
    const feedback: EventBody = { type: 'user_message', reason: 'verify_feedback', content: [] };
    const state = stateWith('finalize_fail', reply(), validOutput('1'), feedback, REMINDER, reply({ turn: 2 }));
    expect(finalOutput(HIT, state)).toBeNull();
  });

  test('nothing was checked: there is none', () => {
    expect(finalOutput({ reason: 'completed' }, stateOf([runStart(), reply()]))).toBeNull();
  });
});
