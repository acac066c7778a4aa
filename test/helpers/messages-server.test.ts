import Anthropic, { NotFoundError } from '@anthropic-ai/sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { eventNames, joined, post, readEvents, request } from './messages-server/raw-client.ts';
import { gate, reply } from './messages-server/reply.ts';
import { startMessagesServer } from './messages-server/server.ts';
import type { MessagesServer, ServerOptions } from './messages-server/types.ts';

const open: MessagesServer[] = [];

async function start(options: ServerOptions): Promise<MessagesServer> {
  const server = await startMessagesServer(options);
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(async (server) => server.close()));
});

describe('a streamed reply', () => {
  test('has the events of the service in order, each with its event line and a request id', async () => {
    const server = await start({ replies: ['Hi there'] });
    const response = await post(server, request());
    expect(response.status).toBe(200);
    expect(response.headers.get('request-id')).toBe('req_0001');
    const events = await readEvents(response);
    expect(eventNames(events)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events.map(({ event }) => event)).toContain('ping');
    expect(joined(events, 'text_delta', 'text')).toBe('Hi there');
    expect(events.at(-2)?.data).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 10, output_tokens: 5 },
    });
    expect(server.failures).toEqual([]);
    expect(server.replies).toMatchObject([{ request_n: 1, status: 200, complete: true }]);
  });

  test('streams the exact bytes of raw tool input, also when it is no JSON', async () => {
    const raw = '{ "n": 1.0, "big": 12345678901234567890, "cut": "ab';
    const content = [{ type: 'tool_use', id: 'toolu_1', name: 'bash', input_json: raw }];
    const server = await start({ replies: [reply.message({ content, delta_size: 3 })] });
    const events = await readEvents(await post(server, request()));
    expect(joined(events, 'input_json_delta', 'partial_json')).toBe(raw);
    const opening = events.find(({ event }) => event === 'content_block_start');
    expect(opening?.data['content_block']).toEqual({ type: 'tool_use', id: 'toolu_1', name: 'bash', input: {} });
    expect(events.at(-2)?.data).toMatchObject({ delta: { stop_reason: 'tool_use' } });
  });

  test('splits surrogate pairs between deltas and multibyte characters between writes', async () => {
    const server = await start({ replies: [reply.text('a😀é', { delta_size: 1, wire_size: 1 })] });
    const response = await post(server, request());
    const sizes: number[] = [];
    const bytes: Uint8Array[] = [];
    for await (const chunk of response.body ?? []) {
      sizes.push(chunk.length);
      bytes.push(chunk);
    }
    const text = Buffer.concat(bytes).toString('utf8');
    expect(sizes.length).toBeGreaterThan(20);
    expect(text).toContain('"text":"\\ud83d"');
    expect(text).toContain('"text":"\\ude00"');
    expect(text).toContain('"text":"é"');
  });

  test('carries thinking, signatures, redacted thinking, server tools, unknown blocks and vendor fields', async () => {
    const content = [
      { type: 'thinking', thinking: 'hmm', signature: 'sig==' },
      { type: 'redacted_thinking', data: 'xyz' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
      { type: 'hologram', shape: 'cube' },
      { type: 'text', text: 'done', vendor_field: 1 },
    ];
    const server = await start({ replies: [reply.message({ content, extra: { vendor: true } })] });
    const events = await readEvents(await post(server, request()));
    const starts = events
      .filter(({ event }) => event === 'content_block_start')
      .map(({ data }) => data['content_block']);
    expect(starts).toEqual([
      { type: 'thinking', thinking: '', signature: '' },
      content[1],
      { ...content[2], input: {} },
      content[3],
      { type: 'text', text: '', vendor_field: 1 },
    ]);
    expect(joined(events, 'thinking_delta', 'thinking')).toBe('hmm');
    expect(joined(events, 'signature_delta', 'signature')).toBe('sig==');
    expect(events[0]?.data['message']).toMatchObject({ vendor: true });
  });

  test('gives usage at the start and cumulative usage at the end', async () => {
    const usage = {
      input_tokens: 40,
      output_tokens: 90,
      cache_read_input_tokens: 1000,
      output_tokens_details: { thinking_tokens: 60 },
    };
    const server = await start({ replies: [reply.text('x', { usage, start_usage: { input_tokens: 20 } })] });
    const events = await readEvents(await post(server, request()));
    const started = { input_tokens: 20, output_tokens: 1, cache_read_input_tokens: 1000, service_tier: 'standard' };
    expect(events[0]?.data).toMatchObject({ message: { usage: started } });
    const last = events.at(-2)?.data['usage'];
    expect(last).toMatchObject(usage);
    expect(last).not.toHaveProperty('cache_creation');
  });

  test('sends pings and unknown events where asked', async () => {
    const extra_events = [
      { after: 'message_start' as const, event: 'content_block_sparkle', data: { type: 'content_block_sparkle' } },
    ];
    const server = await start({
      replies: [reply.text('x', { pings: true, extra_events }), reply.text('y', { pings: false })],
    });
    const first = (await readEvents(await post(server, request()))).map(({ event }) => event);
    expect(first.filter((event) => event === 'ping').length).toBeGreaterThan(5);
    expect(first[1]).toBe('content_block_sparkle');
    const second = (await readEvents(await post(server, request()))).map(({ event }) => event);
    expect(second).not.toContain('ping');
  });

  test('tells why it stopped, with details, model and id as scripted', async () => {
    const stop_details = { type: 'refusal', category: 'cyber', explanation: null };
    const spec = { stop_reason: 'refusal', stop_details, model: 'claude-haiku-5-5', id: 'msg_x' };
    const server = await start({ replies: [reply.message(spec)] });
    const events = await readEvents(await post(server, request()));
    expect(events[0]?.data).toMatchObject({ message: { model: 'claude-haiku-5-5', id: 'msg_x' } });
    expect(events.at(-2)?.data).toMatchObject({ delta: { stop_reason: 'refusal', stop_details } });
  });
});

describe('holding a reply', () => {
  test('waits at each gate until it is released', async () => {
    const [first, second] = [gate(), gate()];
    const pause = [
      { after: 'block_stop:0' as const, until: first },
      { after: 'content' as const, until: second },
    ];
    const calls = [
      { name: 'a', input: {} },
      { name: 'b', input: {} },
    ];
    const server = await start({ replies: [reply.tools(calls, { pause })] });
    const response = await post(server, request());
    await first.reached;
    const reader = response.body?.getReader();
    let seen = '';
    const readUntil = async (text: string): Promise<void> => {
      while (!seen.includes(text)) seen += Buffer.from((await reader?.read())?.value ?? []).toString('utf8');
    };
    await readUntil('"content_block_stop","index":0');
    expect(seen).not.toContain('"index":1');
    first.release();
    await second.reached;
    await readUntil('"content_block_stop","index":1');
    expect(seen).not.toContain('message_delta');
    second.release();
    await readUntil('message_stop');
  });

  test('holds the head, and goes on after milliseconds', async () => {
    const held = gate();
    const server = await start({
      replies: [
        reply.text('x', { pause: { after: 'request', until: held } }),
        reply.text('y', { pause: { after: 'head', until: 5 } }),
      ],
    });
    let answered = false;
    const pending = post(server, request()).then((response) => {
      answered = true;
      return response;
    });
    await held.reached;
    expect(answered).toBe(false);
    held.release();
    expect(eventNames(await readEvents(await pending)).at(-1)).toBe('message_stop');
    expect(eventNames(await readEvents(await post(server, request()))).at(-1)).toBe('message_stop');
  });
});

describe('around the replies', () => {
  test('answers without streaming when asked to', async () => {
    const server = await start({ replies: [reply.tool('bash', { command: 'ls' })] });
    const response = await post(server, request({ stream: false }));
    expect(await response.json()).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'tool_use', name: 'bash', input: { command: 'ls' } }],
      stop_reason: 'tool_use',
      usage: { input_tokens: 10 },
    });
  });

  test('takes a function as script and records every request', async () => {
    const server = await start({ replies: (recorded, n) => `${n}: ${String(recorded.body['max_tokens'])}` });
    const events = await readEvents(await post(server, request({ max_tokens: 7 })));
    expect(joined(events, 'text_delta', 'text')).toBe('1: 7');
    expect(server.turns).toMatchObject([{ n: 1, method: 'POST', path: '/v1/messages', request_id: 'req_0001' }]);
    expect(server.turns[0]?.text).toBe(JSON.stringify(request({ max_tokens: 7 })));
    expect(server.turns[0]?.headers['anthropic-version']).toBe('2026-10-21');
  });

  test('fails loudly when the script is at its end', async () => {
    const server = await start({});
    const response = await post(server, request());
    expect(response.status).toBe(400);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(server.failures).toEqual(['request 1: script: no reply is scripted for request 1']);
    server.push('later');
    expect((await post(server, request())).status).toBe(200);
  });

  test('sends rate-limit headers where asked', async () => {
    const server = await start({ replies: ['x'], rate_limits: true });
    const { headers } = await post(server, request());
    expect(headers.get('anthropic-ratelimit-input-tokens-remaining')).toBe('399999');
  });

  test('counts tokens and describes models through the SDK', async () => {
    const server = await start({ models: { 'tiny-model': { max_tokens: 50 } } });
    const client = new Anthropic({ apiKey: 'k', baseURL: server.url, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'x'.repeat(400) }];
    expect((await client.messages.countTokens({ model: 'claude-sonnet-5-5', messages })).input_tokens).toBeGreaterThan(
      100,
    );
    const info = await client.models.retrieve('claude-sonnet-5-5');
    expect(info).toMatchObject({
      id: 'claude-sonnet-5-5',
      line: 'sonnet',
      max_input_tokens: 1_000_000,
      max_tokens: 128_000,
    });
    expect(info.capabilities?.thinking.types.between_tools.supported).toBe(true);
    expect((await client.models.retrieve('tiny-model')).max_tokens).toBe(50);
    await expect(client.models.retrieve('no-such-model')).rejects.toBeInstanceOf(NotFoundError);
    expect(server.failures).toEqual([]);
  });
});
