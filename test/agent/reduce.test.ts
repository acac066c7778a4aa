import { describe, expect, test } from 'vitest';
import { openMessage } from '../../src/agent/state.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { call, ended, prompt, reduced, reply, runStart, text, turn } from './story.ts';
import type { EventBody } from '../../src/core/events.ts';

const start = runStart();

describe('the conversation', () => {
  test('results stand first and in block order, texts after them', () => {
    const said: EventBody = {
      type: 'user_message',
      reason: 'limit_reminder',
      content: [{ type: 'text', text: 'last turn' }],
    };
    const state = reduced([start, prompt, turn(), reply([call('a'), call('b')]), ended('b'), said, ended('a')]);
    expect(openMessage(state)).toMatchObject([
      { type: 'tool_result', tool_use_id: 'a' },
      { type: 'tool_result', tool_use_id: 'b' },
      { type: 'text', text: 'last turn' },
    ]);
  });

  test('what has been sent never changes: later words go into a message of their own', () => {
    const before = reduced([start, prompt, turn()]);
    const said: EventBody = { type: 'user_message', reason: 'empty_reply', content: [{ type: 'text', text: 'go on' }] };
    const after = reduced([start, prompt, turn(), reply([]), said, turn(2)]);
    expect(after.messages.slice(0, before.messages.length)).toEqual(before.messages);
    expect(after.messages.at(-1)).toEqual({ role: 'user', content: [{ type: 'text', text: 'go on' }] });
  });

  test('empty text blocks are not sent back, thinking is, even when it is empty', () => {
    const thinking = { type: 'thinking', thinking: '', signature: 's' } as const;
    const state = reduced([start, prompt, turn(), reply([text(' \n'), thinking, call('a')])]);
    expect(state.messages.at(-1)?.content).toEqual([thinking, call('a')]);
  });

  test.each(['max_tokens', 'refusal', 'model_context_window_exceeded', 'unknown'] as const)(
    'a reply that ends with %s is dropped with its calls',
    (stop) => {
      const state = reduced([start, prompt, turn(), reply([text('half'), call('a')], stop)]);
      expect(state.messages).toHaveLength(1);
      expect(state.calls).toEqual([]);
    },
  );
});

describe('the ledger', () => {
  test('counts cache reads and writes as input, and each reply once', () => {
    const usage = {
      ...NO_USAGE,
      input_tokens: 1,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 300,
      output_tokens: 7,
    };
    const { ledger } = reduced([
      start,
      prompt,
      turn(),
      reply([text('a'), call('x'), call('y')], 'tool_use', { usage, cost_usd: 0.5 }),
    ]);
    expect(ledger).toMatchObject({ turns: 1, requests: 1, last_input_tokens: 321, cost_usd: 0.5, total: usage });
  });

  test('counts what failed attempts used', () => {
    const attempt: EventBody = {
      type: 'attempt',
      turn: 1,
      attempt: 1,
      max_attempts: 9,
      model: 'm',
      message: 'cut',
      wait_ms: 500,
      usage: { ...NO_USAGE, input_tokens: 40, estimated: true },
      cost_usd: 0.1,
    };
    const { ledger } = reduced([start, prompt, turn(), attempt, reply([text('a')], 'end_turn', { cost_usd: 0.2 })]);
    expect(ledger).toMatchObject({ requests: 2, retries: 1, turns: 1, total: { input_tokens: 50, estimated: true } });
    expect(ledger.cost_usd).toBeCloseTo(0.3);
  });

  test('one unknown cost makes the whole cost unknown, never zero', () => {
    expect(reduced([start, prompt, turn(), reply([text('a')])]).ledger.cost_usd).toBeNull();
  });

  test('measures time from run_start to the last event', () => {
    const { ledger } = reduced([start, prompt, turn()]);
    expect(ledger.now_ms - ledger.started_ms).toBe(2000);
  });
});

describe('resuming', () => {
  test('forgets how the earlier segment ended and keeps what it spent', () => {
    const end: EventBody = {
      type: 'run_end',
      outcome: { reason: 'cancelled', signal: 'SIGTERM' },
      exit_code: 143,
      message: '',
    };
    const limits = { ...start.task.limits, max_turns: 99 };
    const state = reduced([start, prompt, turn(), reply([text('a')]), end, { type: 'run_resume', limits }]);
    expect(state.ended).toBeUndefined();
    expect(state.ledger.turns).toBe(1);
    expect(state.start?.task.limits.max_turns).toBe(99);
    expect(state.resumed).toBe(true);
  });
});
