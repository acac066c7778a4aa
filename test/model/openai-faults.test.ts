import { describe, expect, test } from 'vitest';
import { calls, chunk, refusal, says, startChatServer } from '../helpers/chat-server/server.ts';
import { CHAT_KEY, chat } from './openai-setup.ts';
import { ask, fail, modelRequest, READ_FILE, recordHooks, testClock } from './setup.ts';
import type { ChatReply } from '../helpers/chat-server/server.ts';

const REQUEST = modelRequest(undefined, { tools: [READ_FILE] });
const PART = { chunks: [chunk({ content: 'half' })], no_done: true };
const CALLS = calls([{ name: 'read_file', args: '{"path":"a"}' }]).chunks ?? [];

/** One fault, then a whole reply: the attempts that were reported. */
async function mend(fault: ChatReply, deps = {}) {
  const server = await startChatServer({}, [fault, says('mended')]);
  const hooks = recordHooks();
  const reply = await ask(chat(server.url, { deps }), REQUEST, hooks);
  expect(reply.content).toEqual([{ type: 'text', text: 'mended' }]);
  expect(hooks.blocks).toEqual([]);
  expect(server.requests[1]?.text).toBe(server.requests[0]?.text);
  return hooks.attempts;
}

describe('an attempt that breaks is made again', () => {
  const json = { 'content-type': 'application/json' };
  test.each([
    ['that ends without a finish reason', PART, 'truncated_stream'],
    ['that says [DONE] without a finish reason', { ...PART, no_done: false }, 'truncated_stream'],
    ['that is cut between calls and their end', { chunks: CALLS.slice(0, 3), no_done: true }, 'truncated_stream'],
    ['that is reset', { ...PART, finally: 'reset' as const }, 'connection_error'],
    ['with a chunk that is no JSON', { chunks: ['{"choices":'] }, 'malformed_stream'],
    ['that is a page', { body: '<html>busy</html>' }, 'malformed_stream'],
    ['that is JSON without choices', { body: {}, headers: json }, 'malformed_stream'],
    ['with a call without a name', { chunks: [chunk({ tool_calls: [{ index: 0 }] }, 'stop')] }, 'malformed_stream'],
    [
      'that the endpoint gave up',
      { chunks: [chunk({}, 'insufficient_system_resource')] },
      'insufficient_system_resource',
    ],
    ['with an error as a body', { body: { error: { message: 'busy', type: 'server_error' } } }, 'server_error'],
    ['with an error as a chunk', { chunks: [{ error: { message: 'busy', code: 503 } }] }, 'unknown_error'],
    [
      'with an error after it began',
      { chunks: [chunk({ content: 'x' }), { error: { code: 'rate_limit_exceeded' } }] },
      'rate_limit_exceeded',
    ],
  ])('B163: a reply %s', async (_name, fault, error_type) => {
    expect(await mend(fault)).toMatchObject([{ attempt: 1, max_attempts: 3, error_type, wait_ms: 500 }]);
  });

  test('B165: a reply that falls silent', async () => {
    const attempts = await mend({ ...PART, finally: 'stall' }, { idle_timeout_ms: 80 });
    expect(attempts).toMatchObject([{ error_type: 'idle_timeout', usage: { estimated: true } }]);
  });

  test.each([408, 409, 429, 500, 503])('status %i', async (status) => {
    const attempts = await mend(refusal('busy', status, { type: 'x' }));
    expect(attempts).toMatchObject([{ status, error_type: 'x', request_id: 'req_chat', wait_ms: 500 }]);
  });

  test('B173: after the wait that was asked for', async () => {
    const clock = testClock();
    await mend({ ...refusal('busy', 429), headers: { 'retry-after': '7' } }, { clock });
    expect(clock.slept).toEqual([7000]);
  });
});

describe('an error that waiting does not cure ends the turn at once', () => {
  test('B107: a model that is not served is named with the address', async () => {
    const server = await startChatServer({}, [refusal('no', 404)]);
    expect((await fail(chat(server.url))).message).toContain(`${server.url} does not serve the model "test-chat"`);
  });

  test.each([
    [400, {}, 'api_error'],
    [401, {}, 'auth_error'],
    [402, {}, 'api_error'],
    [403, {}, 'auth_error'],
    [404, {}, 'api_error'],
    [413, {}, 'api_error'],
    [422, {}, 'api_error'],
    [429, { code: 'insufficient_quota', type: 'insufficient_quota' }, 'rate_limited'],
    [400, { code: 'context_length_exceeded' }, 'context_exhausted'],
  ])('B175: %i %j is %s', async (status, error, kind) => {
    const server = await startChatServer({}, [refusal('the words', status, error)]);
    const result = await fail(chat(server.url));
    expect(result).toMatchObject({ kind, status });
    expect(result.message).toContain('the words');
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    [{ error: 'in words' }, 'in words'],
    [{ object: 'error', message: 'at the top', code: 400 }, 'at the top'],
    [{ detail: [{ msg: 'in detail' }] }, 'in detail'],
    ['<html>in a page</html>', 'in a page'],
  ])('and the words are found in %j', async (body, words) => {
    const server = await startChatServer({}, [{ status: 400, body }]);
    expect((await fail(chat(server.url))).message).toContain(words);
  });

  test('and a key that an endpoint repeats is not repeated', async () => {
    const server = await startChatServer({ key: CHAT_KEY }, [refusal(`wrong key ${CHAT_KEY}`, 401)]);
    const setup = { config: { api_key_env: 'CHAT' }, deps: { env: { CHAT: CHAT_KEY } } };
    expect((await fail(chat(server.url, setup))).message).toContain('wrong key [redacted]');
  });
});

test('B179: an abort in the middle of a body settles within a second', async () => {
  const server = await startChatServer({}, [{ ...PART, finally: 'stall' }]);
  const abort = new AbortController();
  const started = Date.now();
  setTimeout(() => abort.abort(), 100);
  expect(await fail(chat(server.url), recordHooks(), abort.signal)).toMatchObject({ kind: 'aborted' });
  expect(Date.now() - started).toBeLessThan(1000);
});

test('what an endpoint does not take is left out from then on, and each refusal is recorded', async () => {
  const server = await startChatServer({ refuses: ['stream_options'] }, [says('a'), says('b')]);
  const client = chat(server.url, { deps: { max_retries: 0 } });
  const hooks = recordHooks();
  await ask(client, REQUEST, hooks);
  await ask(client, REQUEST, hooks);
  expect(server.requests.map(({ body }) => 'stream_options' in body)).toEqual([true, false, false]);
  expect(hooks.attempts).toMatchObject([{ attempt: 1, max_attempts: 1, status: 400, wait_ms: 0 }]);
  const newer = await startChatServer({ refuses: ['max_tokens'] }, [says('c')]);
  expect(await ask(chat(newer.url), REQUEST)).toMatchObject({ content: [{ text: 'c' }] });
  expect(newer.requests[1]?.body).toMatchObject({ max_completion_tokens: 16_000 });
});

test('a refusal is not asked about again when no attempt fits the budget, and is recorded once', async () => {
  const server = await startChatServer({ refuses: ['stream_options'] }, [says('a')]);
  const hooks = recordHooks(() => ({ reason: 'max_cost', limit: 1, used: 1 }));
  expect(await fail(chat(server.url), hooks)).toMatchObject({ status: 400 });
  expect(hooks.attempts).toHaveLength(1);
  expect(server.requests).toHaveLength(1);
});

test('a reply that is whole before the connection falls silent is kept', async () => {
  const server = await startChatServer({}, [{ ...says('kept'), finally: 'stall' }]);
  const reply = await ask(chat(server.url, { deps: { idle_timeout_ms: 80 } }), REQUEST);
  expect(reply).toMatchObject({ content: [{ text: 'kept' }], usage: { output_tokens: 20 } });
});
