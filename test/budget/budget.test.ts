import { describe, expect, test } from 'vitest';
import { createBudget } from '../../src/budget/budget.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { LIMITS } from '../agent/story.ts';
import type { Limits } from '../../src/core/config.ts';
import type { Ledger } from '../../src/core/ports.ts';

const PRICES = { input: 2, output: 10, cache_write: 2.5, cache_read: 0.1 };

function ledger(changes: Partial<Ledger> = {}): Ledger {
  return {
    turns: 0,
    requests: 0,
    retries: 0,
    total: NO_USAGE,
    last_input_tokens: 0,
    last: null,
    cost_usd: 0,
    tool_calls: 0,
    denials: 0,
    started_ms: 0,
    now_ms: 0,
    ...changes,
  };
}

function budget(limits: Partial<Limits>, prices = PRICES) {
  return createBudget({ ...LIMITS, ...limits }, prices);
}

const used = (input_tokens: number, output_tokens: number) => ({ ...NO_USAGE, input_tokens, output_tokens });

describe('a further request', () => {
  test('is allowed up to the limit and not beyond', () => {
    const checks = budget({ max_turns: 3 });
    expect(checks.exceeded(ledger({ turns: 2 }), false)).toBeUndefined();
    expect(checks.exceeded(ledger({ turns: 3 }), false)).toEqual({ reason: 'max_turns', limit: 3, used: 3 });
  });

  test.each([
    ['max_input_tokens', { max_input_tokens: 100 }, { total: used(80, 0), last_input_tokens: 40 }],
    ['max_output_tokens', { max_output_tokens: 100 }, { total: used(0, 100) }],
    ['max_total_tokens', { max_total_tokens: 100 }, { total: used(50, 20), last_input_tokens: 40 }],
    ['max_cost', { max_cost_usd: 0.01 }, { cost_usd: 0.01 }],
    ['timeout', { timeout_ms: 1000 }, { now_ms: 1000 }],
  ] as const)('does not start when its known size would pass %s', (reason, limits, changes) => {
    expect(budget(limits).exceeded(ledger(changes), false)).toMatchObject({ reason });
  });

  test('counts cache tokens as input', () => {
    const total = { ...NO_USAGE, cache_read_input_tokens: 101 };
    expect(budget({ max_input_tokens: 100 }).exceeded(ledger({ total }), false)).toMatchObject({ used: 101 });
  });

  test('may follow when exactly all tool calls are used, not when one more was asked for', () => {
    const checks = budget({ max_tool_calls: 2 });
    expect(checks.exceeded(ledger({ tool_calls: 2 }), false)).toBeUndefined();
    expect(checks.exceeded(ledger({ tool_calls: 3 }), false)).toMatchObject({ reason: 'max_tool_calls' });
  });

  test('is refused when the cost is unknown and limited', () => {
    expect(budget({ max_cost_usd: 1 }).exceeded(ledger({ cost_usd: null }), false)).toMatchObject({
      reason: 'max_cost',
    });
  });
});

describe('what is kept back for the conclusion', () => {
  const limits = { on_limit: 'finalize' } as const;

  test('is one turn', () => {
    const checks = budget({ ...limits, max_turns: 3 });
    expect(checks.exceeded(ledger({ turns: 2 }), false)).toMatchObject({ reason: 'max_turns', used: 2 });
    expect(checks.exceeded(ledger({ turns: 2 }), true)).toBeUndefined();
  });

  test('is the tokens of one more request', () => {
    const checks = budget({ ...limits, max_input_tokens: 100 });
    const state = ledger({ total: used(40, 0), last_input_tokens: 40 });
    expect(checks.exceeded(state, false)).toMatchObject({ reason: 'max_input_tokens' });
    expect(checks.exceeded(state, true)).toBeUndefined();
  });

  test('is a tenth of the time, at most a minute', () => {
    expect(budget({ ...limits, timeout_ms: 100_000 }).remainingMs(ledger(), false)).toBe(90_000);
    expect(budget({ ...limits, timeout_ms: 7_200_000 }).remainingMs(ledger(), false)).toBe(7_140_000);
    expect(budget({ ...limits, timeout_ms: 100_000 }).remainingMs(ledger(), true)).toBe(100_000);
  });
});

describe('max_tokens of a request', () => {
  test('is the task’s own while every budget has room', () => {
    expect(budget({ max_output_tokens: 5000 }).room(ledger(), 1000, false)).toEqual({ max_tokens: 1000 });
  });

  test.each([
    ['max_output_tokens', { max_output_tokens: 100 }, { total: used(0, 60) }, 40],
    ['max_total_tokens', { max_total_tokens: 1000 }, { total: used(300, 100), last_input_tokens: 300 }, 300],
    ['max_cost', { max_cost_usd: 0.01 }, { cost_usd: 0.005 }, 500],
  ] as const)('is clamped to what is left of %s', (clamped_by, limits, changes, max_tokens) => {
    expect(budget(limits).room(ledger(changes), 1000, false)).toEqual({ max_tokens, clamped_by });
  });
});
