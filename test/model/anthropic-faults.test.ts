import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NO_USAGE } from '../../src/core/usage.ts';
import { gate, reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import type { MessagesServer, Point, ReplyLike } from '../helpers/messages-server/types.ts';
import { anthropic, ask, fail, KEY, modelRequest, READ_FILE, recordHooks, testClock } from './setup.ts';

let server: MessagesServer;
beforeEach(async () => {
  server = await startMessagesServer();
});
afterEach(async () => {
  await server.close();
});

const CALL = [{ type: 'tool_use', name: 'read_file', input: { path: 'some/file.txt' } }];
const REQUEST = modelRequest(undefined, { tools: [READ_FILE] });

/** One fault, then a whole reply: the attempts that were reported. */
async function mend(fault: ReplyLike, deps = {}) {
  server.push(fault, 'mended');
  const hooks = recordHooks();
  const result = await ask(anthropic(server.url, { deps }), REQUEST, hooks);
  expect(result.content).toEqual([{ type: 'text', text: 'mended' }]);
  expect(server.turns).toHaveLength(2);
  expect(server.turns[1]?.text).toBe(server.turns[0]?.text);
  expect(server.failures).toEqual([]);
  return hooks;
}

describe('an attempt that breaks is made again', () => {
  const points: Point[] = ['head', 'message_start', 'delta', 'block_stop', 'content', 'message_delta'];

  test.each(points)('B163: cut after %s', async (after) => {
    const { attempts, order } = await mend(reply.cut({ content: CALL, after }));
    expect(attempts).toMatchObject([{ attempt: 1, max_attempts: 9, error_type: 'truncated_stream', wait_ms: 500 }]);
    const offered = ['block_stop', 'content', 'message_delta'].includes(after);
    expect(order).toEqual([...(offered ? ['block', 'discard'] : []), 'attempt', 'admit']);
  });

  test.each(['request', ...points] as Point[])('B177: reset after %s', async (after) => {
    const { attempts } = await mend(reply.reset({ content: CALL, after }));
    expect(attempts).toMatchObject([{ error_type: 'connection_error', wait_ms: 500 }]);
    expect(attempts[0]?.message).toContain('ECONNRESET');
  });

  test.each(['request', ...points] as Point[])('B165: silent after %s', async (after) => {
    const { attempts } = await mend(reply.stall({ content: CALL, after }), { idle_timeout_ms: 60 });
    expect(attempts).toMatchObject([{ error_type: 'idle_timeout', wait_ms: 500 }]);
    expect(attempts[0]?.message).toContain('sent nothing for 60ms');
  });

  test('B163: with a frame that is no JSON', async () => {
    const { attempts } = await mend(reply.malformedFrame({ content: CALL, after: 'delta' }));
    expect(attempts).toMatchObject([{ error_type: 'malformed_stream' }]);
  });

  test('with a page in place of a stream, whatever its status', async () => {
    const bad = await mend(reply.html(502));
    expect(bad.attempts).toMatchObject([{ status: 502, request_id: 'req_0001' }]);
    expect(bad.attempts[0]?.message).toContain('502 Bad Gateway');
    await server.close();
    server = await startMessagesServer();
    const good = await mend(reply.html(200));
    expect(good.attempts[0]?.message).toContain('text/html instead of a stream');
  });

  test.each(['overloaded_error', 'api_error', 'rate_limit_error', 'timeout_error'])(
    'B167: with status 200 and the event %s, first or later',
    async (type) => {
      const { attempts } = await mend(reply.sseError(type, { message: 'busy' }));
      expect(attempts).toMatchObject([{ error_type: type }]);
      expect(attempts[0]).not.toHaveProperty('usage');
      await server.close();
      server = await startMessagesServer();
      const later = await mend(reply.sseError(type, { content: CALL, after: 'block_stop' }));
      expect(later.order).toEqual(['block', 'discard', 'attempt', 'admit']);
    },
  );

  test('with status 200 and an error object', async () => {
    const body = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } });
    const { attempts } = await mend(
      reply.error(200, '', { text: body, headers: { 'content-type': 'application/json' } }),
    );
    expect(attempts).toMatchObject([{ error_type: 'overloaded_error' }]);
  });

  test.each([408, 409, 429, 500, 503, 529])('with status %i', async (status) => {
    expect((await mend(reply.error(status, 'api_error'))).attempts).toMatchObject([{ status }]);
  });
});

describe('what a broken attempt costs', () => {
  const usage = { input_tokens: 700, output_tokens: 50 };

  test('B035: is what was last seen, marked as an estimate', async () => {
    const { attempts } = await mend(reply.cut({ usage, after: 'message_start' }));
    expect(attempts[0]?.usage).toEqual({ ...NO_USAGE, input_tokens: 700, output_tokens: 1, estimated: true });
    expect(attempts[0]?.cost_usd).toBeCloseTo((700 * 2 + 10) / 1e6, 12);
  });

  test('is never less than the text that came', async () => {
    const content = [{ type: 'text', text: 'x'.repeat(400) }];
    const { attempts } = await mend(reply.cut({ usage, content, after: 'content' }));
    expect(attempts[0]?.usage).toMatchObject({ output_tokens: 200 });
  });

  test('is an upper estimate of the request when the reply never began', async () => {
    const { attempts } = await mend(reply.reset({ after: 'request' }));
    const bytes = Buffer.byteLength(server.turns[0]?.text ?? '');
    expect(attempts[0]?.usage).toMatchObject({ input_tokens: Math.ceil(bytes / 2), output_tokens: 0, estimated: true });
  });

  test('is nothing when the service refused it', async () => {
    expect((await mend(reply.error(529, 'overloaded_error'))).attempts[0]).not.toHaveProperty('usage');
  });
});

describe('an abort', () => {
  test.each(['request', 'head', 'delta'] as const)('B179: settles at once after %s', async (after) => {
    const held = gate();
    server.push(reply.text('long', { pause: { after, until: held } }));
    const controller = new AbortController();
    const hooks = recordHooks();
    const pending = fail(anthropic(server.url), hooks, controller.signal);
    await held.reached;
    const aborted_at = performance.now();
    controller.abort(new Error('stop'));
    expect(await pending).toMatchObject({ kind: 'aborted' });
    expect(performance.now() - aborted_at).toBeLessThan(500);
    expect(hooks.attempts).toMatchObject([{ usage: { estimated: true } }]);
    expect(hooks.attempts[0]).not.toHaveProperty('wait_ms');
  });

  test('ends a wait between attempts', async () => {
    server.push(reply.error(529, 'overloaded_error'));
    const controller = new AbortController();
    const clock = { ...testClock(), sleep: async () => controller.abort() };
    expect(await fail(anthropic(server.url, { deps: { clock } }), recordHooks(), controller.signal)).toMatchObject({
      kind: 'aborted',
    });
    expect(server.turns).toHaveLength(1);
  });

  test('before the request sends none', async () => {
    expect(await fail(anthropic(server.url), recordHooks(), AbortSignal.abort())).toMatchObject({ kind: 'aborted' });
    expect(server.requests).toEqual([]);
  });

  test('B027: by the deadline is named so, however long the attempt may take', async () => {
    server.push(reply.stall({ after: 'delta' }));
    const client = anthropic(server.url, { deps: { deadline: () => 80 } });
    expect(await fail(client)).toMatchObject({ kind: 'deadline' });
  });
});

describe('a connection', () => {
  test('that is refused is tried again and costs nothing', async () => {
    const gone = await startMessagesServer();
    await gone.close();
    const hooks = recordHooks();
    const result = await fail(anthropic(gone.url, { deps: { max_retries: 2 } }), hooks);
    expect(result).toMatchObject({ kind: 'api_error' });
    expect(result.message).toMatch(/127\.0\.0\.1.*ECONNREFUSED.*gave up after 3 attempts/);
    expect(hooks.attempts).toHaveLength(3);
    expect(hooks.attempts[0]).not.toHaveProperty('usage');
  });
});

test('an error that echoes the key does not show it', async () => {
  server.push(reply.error(401, 'authentication_error', { message: `bad header Authorization: Bearer ${KEY}` }));
  const hooks = recordHooks();
  const result = await fail(anthropic(server.url), hooks);
  expect(JSON.stringify([result, hooks.attempts])).not.toContain(KEY);
  expect(result).toMatchObject({ kind: 'auth_error', status: 401 });
});
