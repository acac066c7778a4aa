import Anthropic from '@anthropic-ai/sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { eventNames, parseEvents, post, readError, readEvents, request } from './messages-server/raw-client.ts';
import { reply } from './messages-server/reply.ts';
import { startMessagesServer } from './messages-server/server.ts';
import type { MessagesServer, Point, Reply } from './messages-server/types.ts';

const open: MessagesServer[] = [];

async function start(...replies: Reply[]): Promise<MessagesServer> {
  const server = await startMessagesServer({ replies });
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(async (server) => server.close()));
});

/** What arrives before the connection breaks. */
async function readUntilBroken(response: Response): Promise<{ text: string; broken: boolean }> {
  let text = '';
  try {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString('utf8');
    return { text, broken: false };
  } catch {
    return { text, broken: true }; // a TypeError "terminated": the socket was destroyed
  }
}

describe('an HTTP error', () => {
  test.each([
    [429, 'rate_limit_error', { 'retry-after': '3', 'retry-after-ms': '2500' }],
    [529, 'overloaded_error', { 'x-should-retry': 'true' }],
    [500, 'api_error', { 'x-should-retry': 'false' }],
    [401, 'authentication_error', {}],
    [403, 'permission_error', {}],
    [404, 'not_found_error', {}],
    [400, 'invalid_request_error', {}],
    [413, 'request_too_large', {}],
  ])('of status %i carries its type, headers and request id', async (status, type, headers) => {
    const server = await start(reply.error(status, type, { message: 'because', headers }));
    const response = await post(server, request());
    expect(response.status).toBe(status);
    for (const [name, value] of Object.entries(headers)) expect(response.headers.get(name)).toBe(value);
    expect(await readError(response)).toEqual({ type, message: 'because', request_id: 'req_0001' });
    expect(response.headers.get('request-id')).toBe('req_0001');
    expect(server.failures).toEqual([]);
  });

  test('carries an error code that the SDK understands', async () => {
    const server = await start(reply.error(429, 'rate_limit_error', { error_code: 'enforced_spend_limit_reached' }));
    const client = new Anthropic({ apiKey: 'k', baseURL: server.url, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const failed = client.messages.create({ model: 'claude-sonnet-5-5', max_tokens: 10, messages });
    await expect(failed).rejects.toMatchObject({
      status: 429,
      errorCode: 'enforced_spend_limit_reached',
      requestID: 'req_0001',
    });
  });

  test('can be a page or a text, as gateways send', async () => {
    const server = await start(reply.html(), reply.error(503, 'api_error', { text: 'upstream connect error' }));
    const page = await post(server, request());
    expect([page.status, page.headers.get('content-type')]).toEqual([502, 'text/html']);
    expect(await page.text()).toContain('<h1>502');
    expect(await (await post(server, request())).text()).toBe('upstream connect error');
  });
});

describe('a stream that breaks', () => {
  test('ends with an SSE error as the first event', async () => {
    const server = await start(reply.sseError('overloaded_error'));
    const response = await post(server, request());
    expect(response.status).toBe(200);
    expect(await readEvents(response)).toEqual([
      { event: 'error', data: { type: 'error', error: { type: 'overloaded_error', message: 'overloaded_error' } } },
    ]);
    expect(server.replies[0]?.complete).toBe(false);
  });

  test('ends with an SSE error after some events', async () => {
    const server = await start(reply.sseError('api_error', { after: 'event:3', message: 'gone' }));
    const events = await readEvents(await post(server, request()));
    expect(eventNames(events)).toEqual(['message_start', 'content_block_start', 'content_block_delta', 'error']);
    expect(events.at(-1)?.data).toMatchObject({ error: { message: 'gone' } });
  });

  const cuts: [Point, string | undefined][] = [
    ['head', undefined],
    ['message_start', 'message_start'],
    ['delta', 'content_block_delta'],
    ['block_stop', 'content_block_stop'],
    ['message_delta', 'message_delta'],
  ];

  test.each(cuts)('can end cleanly after %s', async (after, last) => {
    const server = await start(reply.cut({ after }));
    const { text, broken } = await readUntilBroken(await post(server, request()));
    expect(broken).toBe(false);
    expect(eventNames(parseEvents(text)).at(-1)).toBe(last);
    expect(server.replies[0]?.complete).toBe(false);
  });

  test.each(cuts)('can lose its socket after %s', async (after, last) => {
    const server = await start(reply.reset({ after }));
    const { text, broken } = await readUntilBroken(await post(server, request()));
    expect(broken).toBe(true);
    expect(eventNames(parseEvents(text)).at(-1)).toBe(last);
  });

  test('can lose its socket before the head', async () => {
    const server = await start(reply.reset({ after: 'request' }));
    await expect(post(server, request())).rejects.toThrow('fetch failed');
    expect(server.turns).toHaveLength(1);
  });

  test('can hang open, silent, until the server closes', async () => {
    const server = await start(reply.stall({ after: 'delta' }));
    const response = await post(server, request());
    const reader = response.body?.getReader();
    let seen = '';
    while (!seen.includes('text_delta')) seen += Buffer.from((await reader?.read())?.value ?? []).toString('utf8');
    const next = reader?.read().then(
      () => 'more',
      () => 'broken',
    );
    const first = await Promise.race([next, new Promise((resolve) => setTimeout(() => resolve('silent'), 50))]);
    expect(first).toBe('silent');
    await server.close();
    expect(await next).toBe('broken');
  });

  test('can hold a frame that is no JSON and go on after it', async () => {
    const server = await start(reply.malformedFrame());
    const { text, broken } = await readUntilBroken(await post(server, request()));
    expect(broken).toBe(false);
    expect(text).toContain('data: {"type":"content_block_delta","index":0,"del\n\n');
    expect(text).toContain('message_stop');
    expect(() => parseEvents(text)).toThrow(SyntaxError);
  });

  test('resets a reply that was not to be streamed', async () => {
    const server = await start(reply.cut());
    await expect(post(server, request({ stream: false }))).rejects.toThrow('fetch failed');
  });
});
