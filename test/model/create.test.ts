import { expect, test } from 'vitest';
import type { ModelConfig, ScriptTurn } from '../../src/core/config.ts';
import { UsageError } from '../../src/core/errors.ts';
import type { LimitHit } from '../../src/core/outcome.ts';
import { createModelClient } from '../../src/model/create.ts';
import { ask, fail, KEY, modelConfig, modelRequest, recordHooks, testClock } from './setup.ts';

const deps = {
  env: { ANTHROPIC_API_KEY: KEY },
  clock: testClock(),
  random: () => 0,
  idle_timeout_ms: 1000,
  max_retries: 1,
  deadline: () => 600_000,
  redact: (text: string) => text,
};

function script(id: string, turns: ScriptTurn[], rest: Partial<ModelConfig> = {}): ModelConfig {
  return modelConfig({ provider: 'script', id, script: { turns }, ...rest });
}

const busy: ScriptTurn = { error: { status: 529 } };
const prices = { input: 1, output: 1, cache_write: 1, cache_read: 1 };

test('a client is the one of its provider', async () => {
  expect(await createModelClient(modelConfig(), deps)).toMatchObject({
    id: 'claude-sonnet-5-5',
    prices: { input: 2, cache_read: 0.1 },
    prices_as_of: '2026-11-30',
    max_output_tokens: 128_000,
    context_tokens: 1_000_000,
  });
  const chat = modelConfig({ provider: 'openai', id: 'deepseek-chat' });
  await expect(createModelClient(chat, deps)).rejects.toThrow(UsageError);
  const env = { OPENAI_API_KEY: KEY };
  expect(await createModelClient(chat, { ...deps, env })).toMatchObject({ id: 'deepseek-chat', prices: null });
});

test('a fallback answers after the retries of the model before it, and keeps answering', async () => {
  const second = script('second', [{ text: 'b' }, { text: 'c' }], { prices });
  const client = await createModelClient(
    script('first', [busy, busy, { text: 'a' }], { fallback: [second], prices }),
    deps,
  );
  const hooks = recordHooks();
  expect(await ask(client, modelRequest(), hooks)).toMatchObject({ model: 'second', cost_usd: 15 / 1e6 });
  expect(hooks.attempts.map(({ model, wait_ms }) => [model, wait_ms])).toEqual([
    ['first', 500],
    ['first', undefined],
  ]);
  expect(hooks.order).toEqual(['attempt', 'admit', 'attempt', 'admit']);
  expect(await ask(client, modelRequest())).toMatchObject({ model: 'second' });
});

test('a failure that another model would not mend is not handed on', async () => {
  const client = await createModelClient(
    script('first', [{ error: { status: 401 } }], { fallback: [script('second', [{ text: 'b' }])] }),
    deps,
  );
  expect(await fail(client)).toMatchObject({ kind: 'auth_error' });
});

test('the last model’s failure is the turn’s', async () => {
  const fallback = [script('second', [{ error: { status: 429 } }, { error: { status: 429 } }])];
  const client = await createModelClient(script('first', [busy, busy], { fallback }), deps);
  expect(await fail(client)).toMatchObject({ kind: 'rate_limited' });
});

test('a fallback that does not fit the budget is not asked', async () => {
  const hit: LimitHit = { reason: 'max_cost', limit: 1, used: 1 };
  const hooks = recordHooks(() => (hooks.attempts.length === 2 ? hit : undefined));
  const client = await createModelClient(script('first', [busy, busy], { fallback: [script('second', [])] }), deps);
  expect(await fail(client, hooks)).toMatchObject({ kind: 'budget', hit });
});

test('a price is known only when every model that may answer has one', async () => {
  const priced = await createModelClient(script('a', [], { prices, fallback: [script('b', [], { prices })] }), deps);
  const open = await createModelClient(script('a', [], { prices, fallback: [script('b', [])] }), deps);
  expect([priced.prices, open.prices]).toEqual([prices, null]);
});
