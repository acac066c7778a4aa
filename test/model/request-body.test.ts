import { describe, expect, test } from 'vitest';
import type { Message, ResultContent } from '../../src/core/messages.ts';
import { createRequestWriter } from '../../src/model/request-body.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import type { RecordedRequest, ServerOptions } from '../helpers/messages-server/types.ts';
import { anthropic, answered, ask, modelRequest, READ_FILE, user } from './setup.ts';
import type { Setup } from './setup.ts';

/** Runs a loop of `turns` calls of `width` tools each, and returns the requests it made. */
async function loop(turns: number, width: number, options: ServerOptions = {}, setup: Setup = {}) {
  const server = await startMessagesServer(options);
  const calls = Array.from({ length: width }, (_, n) => ({ name: 'read_file', input: { path: `f${n}` } }));
  const client = anthropic(server.url, setup);
  const history: Message[] = [user('go')];
  const reads: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    server.push(reply.tools(calls));
    const request = modelRequest(history, { tools: [READ_FILE], system: 'Be exact. '.repeat(400) });
    const result = await ask(client, request);
    reads.push(result.usage.cache_read_input_tokens);
    history.push(...answered(result, `${turn} `.repeat(300)));
  }
  await server.close();
  return { requests: server.turns, failures: server.failures, reads };
}

/** Paths of the cache marks of a request. */
function marks({ body }: RecordedRequest): string[] {
  const found: string[] = [];
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('cache_control' in value) found.push(`${path} ${JSON.stringify(value.cache_control)}`);
    for (const [key, child] of Object.entries(value)) walk(child, path === '' ? key : `${path}.${key}`);
  };
  walk(body, '');
  return found;
}

describe('cache marks', () => {
  test('B039: move to the newest results each turn and stay on the ones before', async () => {
    const { requests, failures } = await loop(3, 2);
    const system = 'system.0 {"type":"ephemeral","ttl":"1h"}';
    const at = (path: string) => `messages.${path} {"type":"ephemeral"}`;
    expect(requests.map(marks)).toEqual([
      [system, at('0.content.0')],
      [system, at('0.content.0'), at('2.content.1')],
      [system, at('2.content.1'), at('4.content.1')],
    ]);
    expect(failures).toEqual([]);
  });

  test('let every turn read what the turn before wrote, also with more blocks than the service looks back', async () => {
    const { reads } = await loop(4, 25, { simulate_cache: true });
    expect(reads[0]).toBe(0);
    expect(reads[1]).toBeGreaterThan(1000);
    expect(reads[2]).toBeGreaterThan((reads[1] ?? 0) + 3000);
    expect(reads[3]).toBeGreaterThan((reads[2] ?? 0) + 3000);
  });

  test('are no part of what is remembered: the same request is written twice alike', () => {
    const write = createRequestWriter({ model: 'm', adaptive_thinking: false });
    const first = modelRequest([user('a')]);
    const before = write(first).toString();
    write(modelRequest([...first.messages, { role: 'assistant', content: [] }, user('b'), user('c')]));
    expect(write(first).toString()).toBe(before);
  });
});

describe('the request', () => {
  test('B041: of two runs of one task is the same to the byte', async () => {
    const [one, two] = [await loop(1, 1), await loop(1, 1)];
    expect(one.requests[0]?.text).toBe(two.requests[0]?.text);
  });

  test('is strict JSON in well-formed UTF-8 that streams and asks for nothing refused', async () => {
    const { requests } = await loop(1, 1, {}, { config: { effort: 'high' } });
    expect(Object.keys(requests[0]?.body ?? {})).toEqual([
      'model',
      'max_tokens',
      'stream',
      'output_config',
      'system',
      'tools',
      'messages',
    ]);
    expect(requests[0]?.body).toMatchObject({ stream: true, max_tokens: 16_000, output_config: { effort: 'high' } });
  });

  test.each([
    ['claude-opus-4-8', { type: 'adaptive' }],
    ['claude-sonnet-4-6', { type: 'adaptive' }],
    ['claude-sonnet-5-5', undefined],
    ['claude-haiku-4-5', undefined],
  ])('of %s asks for thinking only where it is off by itself', async (id, thinking) => {
    const { requests, failures } = await loop(1, 1, {}, { config: { id } });
    expect(requests[0]?.body['thinking']).toEqual(thinking);
    expect(failures).toEqual([]);
  });

  test('carries a native output schema', () => {
    const write = createRequestWriter({ model: 'm', adaptive_thinking: false, effort: 'low' });
    const schema = { type: 'object', properties: {}, additionalProperties: false };
    const body: unknown = JSON.parse(write(modelRequest([user('a')], { output_schema: schema })).toString());
    expect(body).toMatchObject({ output_config: { effort: 'low', format: { type: 'json_schema', schema } } });
  });

  test('has no empty text, no empty result and no system when there is none', () => {
    const write = createRequestWriter({ model: 'm', adaptive_thinking: false });
    const text = (value: string) => ({ type: 'text' as const, text: value });
    const results: Message = {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: [] },
        { type: 'tool_result', tool_use_id: 'b', content: [text(' '), text('\ud83d')], is_error: true },
        text(''),
      ],
    };
    const body: unknown = JSON.parse(write(modelRequest([user('go'), results], { system: ' ' })).toString());
    expect(body).not.toHaveProperty('system');
    expect(body).toHaveProperty('messages.1.content', [
      { type: 'tool_result', tool_use_id: 'a', content: [text('(no output)')] },
      {
        type: 'tool_result',
        tool_use_id: 'b',
        content: [text('\ufffd')],
        is_error: true,
        cache_control: { type: 'ephemeral' },
      },
    ]);
  });

  test('costs no more than copying for what was written before', () => {
    const write = createRequestWriter({ model: 'm', adaptive_thinking: false });
    const history = Array.from({ length: 400 }, (_, n) => user(`${n} `.repeat(2000)));
    const started = performance.now();
    const bytes = write(modelRequest(history)).length;
    const first = performance.now() - started;
    const again = performance.now();
    for (let n = 0; n < 10; n += 1) write(modelRequest([...history, user('new')]));
    const each = (performance.now() - again) / 10;
    expect(bytes).toBeGreaterThan(3_000_000);
    expect(each).toBeLessThan(first);
  });
});

test('images and documents of an answer are sent without what we know of them', () => {
  const { request } = sent([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' }, width: 1, height: 2 },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' }, pages: 3 },
  ]);
  expect(request).toEqual([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' } },
  ]);
});

/** The answer to a call with this content, as it was sent. */
function sent(content: ResultContent[]): { request: unknown } {
  const write = createRequestWriter({ model: 'm', adaptive_thinking: false });
  const history: Message[] = [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content }] }];
  const body = JSON.parse(write(modelRequest(history)).toString('utf8')) as {
    messages: { content: { content: unknown }[] }[];
  };
  return { request: body.messages[0]?.content[0]?.content };
}

test.each([
  [false, 'summarized', { type: 'adaptive', display: 'summarized' }],
  [true, 'omitted', { type: 'adaptive', display: 'omitted' }],
  [true, undefined, { type: 'adaptive' }],
  [false, undefined, undefined],
])('thinking that is asked for %s and shown as %s is sent as %j', (adaptive_thinking, display, thinking) => {
  const shown = display === undefined ? {} : { thinking_display: display };
  const write = createRequestWriter({ model: 'm', adaptive_thinking, ...shown });
  expect(JSON.parse(write(modelRequest()).toString('utf8'))['thinking']).toEqual(thinking);
});
