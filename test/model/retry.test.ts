import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LimitHit } from '../../src/core/outcome.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import type { MessagesServer } from '../helpers/messages-server/types.ts';
import { anthropic, ask, fail, modelRequest, recordHooks, testClock } from './setup.ts';

let server: MessagesServer;
beforeEach(async () => {
  server = await startMessagesServer();
});
afterEach(async () => {
  await server.close();
});

const busy = (headers: Record<string, string> = {}) =>
  reply.error(429, 'rate_limit_error', { headers, message: 'slow' });

describe('waiting', () => {
  test('B181: doubles, is reported for each attempt, and ends with the last one', async () => {
    server.push(...Array.from({ length: 9 }, () => reply.error(529, 'overloaded_error', { message: 'Overloaded' })));
    const clock = testClock();
    const hooks = recordHooks();
    const result = await fail(anthropic(server.url, { deps: { clock } }), hooks);
    const waits = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];
    expect(clock.slept).toEqual(waits);
    expect(hooks.attempts.map(({ wait_ms }) => wait_ms)).toEqual([...waits, undefined]);
    expect(hooks.attempts[3]).toMatchObject({
      attempt: 4,
      max_attempts: 9,
      status: 529,
      error_type: 'overloaded_error',
    });
    expect(result).toMatchObject({ kind: 'api_error', status: 529, request_id: 'req_0009' });
    expect(result.message).toContain('gave up after 9 attempts');
  });

  test('is shortened by up to a quarter at random', async () => {
    server.push(reply.error(500, 'api_error'), 'fine');
    const clock = testClock();
    await ask(anthropic(server.url, { deps: { clock, random: () => 0.999_999 } }), modelRequest());
    expect(clock.slept).toEqual([375]);
  });

  test.each([
    ['retry-after-ms', '1234', 1234],
    ['retry-after', '7', 7000],
    ['retry-after', 'Mon, 30 Nov 2026 12:00:30 GMT', 30_000],
    ['retry-after', 'Mon, 30 Nov 2026 11:00:00 GMT', 0],
    ['retry-after', 'soon', 500],
  ])('B173: follows %s: %s', async (name, value, wait_ms) => {
    server.push(busy({ [name]: value }), 'fine');
    const clock = testClock();
    await ask(anthropic(server.url, { deps: { clock } }), modelRequest());
    expect(clock.slept).toEqual([wait_ms]);
  });

  test('B173: for longer than is left ends the turn at once and says how long it would have been', async () => {
    server.push(busy({ 'retry-after': '90' }));
    const clock = testClock();
    const hooks = recordHooks();
    const result = await fail(anthropic(server.url, { deps: { clock, deadline: () => 58_342 } }), hooks);
    expect(result).toMatchObject({ kind: 'rate_limited', status: 429 });
    expect(result.message).toContain('it asked to wait 90s, and 58s are left');
    expect(clock.slept).toEqual([]);
    expect(hooks.attempts[0]).not.toHaveProperty('wait_ms');
  });

  test('B027: of our own that goes beyond the time ends with the deadline', async () => {
    server.push(reply.error(529, 'overloaded_error'));
    expect(await fail(anthropic(server.url, { deps: { deadline: () => 400 } }))).toMatchObject({ kind: 'deadline' });
  });

  test('counts toward the time: no attempt starts when it is over', async () => {
    expect(await fail(anthropic(server.url, { deps: { deadline: () => 0 } }))).toMatchObject({ kind: 'deadline' });
    expect(server.requests).toEqual([]);
  });
});

describe('trying again', () => {
  test.each([
    [400, 'invalid_request_error', 'api_error'],
    [401, 'authentication_error', 'auth_error'],
    [402, 'billing_error', 'api_error'],
    [403, 'permission_error', 'auth_error'],
    [404, 'not_found_error', 'api_error'],
    [413, 'request_too_large', 'api_error'],
    [422, 'invalid_request_error', 'api_error'],
  ])('B175: is left out for %i %s', async (status, type, kind) => {
    server.push(reply.error(status, type, { message: 'the reason' }));
    const result = await fail(anthropic(server.url));
    expect(result).toMatchObject({ kind, status, request_id: 'req_0001' });
    expect(result.message).toContain('the reason');
    expect(server.turns).toHaveLength(1);
  });

  test.each(['enforced_spend_limit_reached', 'contract_spend_limit_reached'])(
    'is left out for %s',
    async (error_code) => {
      server.push(reply.error(429, 'rate_limit_error', { error_code, headers: { 'x-should-retry': 'true' } }));
      expect(await fail(anthropic(server.url))).toMatchObject({ kind: 'rate_limited' });
      expect(server.turns).toHaveLength(1);
    },
  );

  test('is left out when the service says so, and done when it says so', async () => {
    server.push(reply.error(529, 'overloaded_error', { headers: { 'x-should-retry': 'false' } }));
    expect(await fail(anthropic(server.url))).toMatchObject({ status: 529 });
    server.push(reply.error(400, 'invalid_request_error', { headers: { 'x-should-retry': 'true' } }), 'fine');
    await ask(anthropic(server.url), modelRequest());
    expect(server.turns).toHaveLength(3);
  });

  test.each(['invalid_request_error', 'authentication_error', 'not_found_error'])(
    'B167: is left out for the error event %s',
    async (type) => {
      server.push(reply.sseError(type));
      const result = await fail(anthropic(server.url));
      expect(result.kind).toBe(type === 'authentication_error' ? 'auth_error' : 'api_error');
      expect(server.turns).toHaveLength(1);
    },
  );

  test('is not done when it does not fit the budget', async () => {
    server.push(reply.error(529, 'overloaded_error'));
    const hit: LimitHit = { reason: 'max_total_tokens', limit: 10, used: 9 };
    const clock = testClock();
    const hooks = recordHooks(() => hit);
    expect(await fail(anthropic(server.url, { deps: { clock } }), hooks)).toMatchObject({ kind: 'budget', hit });
    expect(hooks.order).toEqual(['attempt', 'admit']);
    expect(clock.slept).toEqual([]);
  });

  test('is off with max_retries 0', async () => {
    server.push(reply.error(529, 'overloaded_error'));
    const hooks = recordHooks();
    await fail(anthropic(server.url, { deps: { max_retries: 0 } }), hooks);
    expect(hooks.attempts).toMatchObject([{ attempt: 1, max_attempts: 1 }]);
  });
});

describe('the message', () => {
  test('B107, B193: of an unknown model names model, host and the service’s own text', async () => {
    const result = await fail(anthropic(server.url, { config: { id: 'claude-nonesuch-9' } }));
    expect(result).toMatchObject({ kind: 'api_error', status: 404 });
    expect(result.message).toContain('"claude-nonesuch-9"');
    expect(result.message).toContain(server.url);
    expect(result.message).toContain('model: claude-nonesuch-9');
    expect(server.turns).toHaveLength(1);
  });

  test.each([
    'prompt is too long: 1200000 tokens > 1000000 maximum',
    'input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000',
  ])('of an overflow has a kind of its own: %s', async (message) => {
    server.push(reply.error(400, 'invalid_request_error', { message }));
    expect(await fail(anthropic(server.url))).toMatchObject({ kind: 'context_exhausted', status: 400 });
  });
});
