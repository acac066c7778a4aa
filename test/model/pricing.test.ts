import { expect, test } from 'vitest';
import table from '../../src/model/prices.json' with { type: 'json' };
import { factsFor, pricesFor, pricesOf, pricesOfAnswer } from '../../src/model/pricing.ts';
import { modelConfig } from './setup.ts';

test('B025: prices are found by exact provider and id only', () => {
  expect(pricesFor('anthropic', 'claude-opus-5-5')).toEqual({
    prices: { input: 4, output: 20, cache_write: 5, cache_write_1h: 8, cache_read: 0.2 },
    prices_as_of: '2026-11-30',
  });
  for (const id of ['deepseek-chat', 'claude-opus-5-5-latest', 'Claude-opus-5-5', '']) {
    expect(pricesFor('anthropic', id)).toBeNull();
  }
  expect(pricesFor('openai', 'claude-opus-5-5')).toBeNull();
  expect(pricesFor('script', 'claude-opus-5-5')).toBeNull();
});

test('prices are those of the day', () => {
  const read = (day: string) => pricesFor('anthropic', 'claude-sonnet-5-5', Date.parse(day))?.prices.cache_read;
  expect([read('2026-10-06T23:59:59Z'), read('2026-10-07T00:00:00Z')]).toEqual([0.2, 0.1]);
  expect(pricesFor('anthropic', 'claude-sonnet-5-5')?.prices.cache_read).toBe(0.1);
});

test('Haiku 5.5 has a second price above a hundred thousand prompt tokens', () => {
  const prices = pricesFor('anthropic', 'claude-haiku-5-5')?.prices;
  expect(prices).toMatchObject({ input: 0.1, above: { prompt_tokens: 100_000, input: 0.5, output: 2.5 } });
});

test('a task’s own prices come before the table’s and have no date', () => {
  const prices = { input: 1, output: 2, cache_write: 3, cache_read: 4 };
  expect(pricesOf(modelConfig({ prices }), 0)).toEqual({ prices, prices_as_of: null });
  expect(pricesOf(modelConfig({ id: 'unknown' }), 0)).toEqual({ prices: null, prices_as_of: null });
});

test('an answer is priced as the model that gave it', () => {
  const config = modelConfig({ id: 'claude-opus-5' });
  const now = Date.parse('2026-11-30');
  expect(pricesOfAnswer(config, 'claude-opus-5', now)?.input).toBe(5);
  expect(pricesOfAnswer(config, 'claude-opus-5-20260701', now)?.input).toBe(5);
  expect(pricesOfAnswer(config, 'claude-haiku-4-5', now)?.input).toBe(1);
  expect(pricesOfAnswer(config, 'claude-opus-5-turbo', now)).toBeNull();
});

test('every line of the table has positive prices in order of date, and its ids stand once', () => {
  const ids = table.models.flatMap((model) => model.ids.map((id) => `${model.provider}/${id}`));
  expect(new Set(ids).size).toBe(ids.length);
  for (const { prices, context_tokens, max_output_tokens } of table.models) {
    const days = prices.map(({ from }) => from);
    expect(days).toEqual([...days].sort());
    for (const { input, output, cache_write, cache_write_1h, cache_read } of prices) {
      expect([cache_read < input, input < cache_write, cache_write < cache_write_1h, input < output]).not.toContain(
        false,
      );
    }
    expect(max_output_tokens).toBeLessThan(context_tokens);
  }
  expect(factsFor('anthropic', 'claude-haiku-4-5')).toMatchObject({
    context_tokens: 200_000,
    max_output_tokens: 64_000,
  });
});
