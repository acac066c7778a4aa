import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/core/errors.ts';
import { calls, chunk, refusal, says, startChatServer, usageChunk } from '../helpers/chat-server/server.ts';
import { CHAT_KEY, chat } from './openai-setup.ts';
import { answered, ask, modelConfig, modelRequest, READ_FILE, recordHooks, testClock, user } from './setup.ts';
import { createModelClient } from '../../src/model/create.ts';
import type { ChatReply } from '../helpers/chat-server/server.ts';
import type { Message } from '../../src/core/messages.ts';

const REQUEST = modelRequest(undefined, { tools: [READ_FILE] });
const CALL = { name: 'read_file', args: '{"path":"a"}' };

async function replyTo(...replies: ChatReply[]) {
  const server = await startChatServer({}, replies);
  return ask(chat(server.url), REQUEST);
}

describe('a reply', () => {
  test('in words comes with its usage and the names the endpoint gave', async () => {
    expect(await replyTo(says('hello there'))).toMatchObject({
      model: 'test-chat',
      message_id: 'chatcmpl-1',
      request_id: 'req_chat',
      content: [{ type: 'text', text: 'hello there' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 100, output_tokens: 20 },
      cost_usd: null,
    });
  });

  test('with parallel calls keeps each call’s arguments as written', async () => {
    const exact = '{ "id": 2512292042121000001, "n": 1.0 }';
    const { content, stop_reason } = await replyTo(calls([CALL, { name: 'read_file', args: exact }]));
    expect(stop_reason).toBe('tool_use');
    expect(content).toMatchObject([
      { id: 'call_x0', input_json: '{"path":"a"}' },
      { id: 'call_x1', input_json: exact },
    ]);
  });

  test.each([
    ['stop', [CALL], 'tool_use'],
    ['function_call', [CALL], 'tool_use'],
    ['length', [CALL], 'max_tokens'],
    ['content_filter', [CALL], 'refusal'],
    ['weird', [CALL], 'tool_use'],
    ['weird', [], 'unknown'],
  ])('that ends with %s and %j is %s', async (finish, called, stop_reason) => {
    const server = await startChatServer({}, [calls(called, finish)]);
    const hooks = recordHooks();
    const reply = await ask(chat(server.url), REQUEST, hooks);
    expect(reply.stop_reason).toBe(stop_reason);
    expect(hooks.blocks).toHaveLength(stop_reason === 'tool_use' ? 1 : 0);
    expect(reply.stop_reason_raw).toBe(stop_reason === 'unknown' ? 'weird' : undefined);
  });

  test('without [DONE], or whose connection breaks after its finish reason, is whole', async () => {
    expect(await replyTo({ ...says('a'), no_done: true })).toMatchObject({ content: [{ text: 'a' }] });
    expect(await replyTo({ ...says('b'), finally: 'reset' })).toMatchObject({ content: [{ text: 'b' }] });
  });

  test('of an endpoint that does not stream is read whole, numbers in arguments as written', async () => {
    const call = { id: 'c', type: 'function', function: { name: 'read_file', arguments: '§' } };
    const message = { role: 'assistant', content: null, tool_calls: [call] };
    const json = JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] });
    const body = json.replace('"§"', '{"id": 2512292042121000001}');
    const reply = await replyTo({ body, headers: { 'content-type': 'application/json' } });
    expect(reply).toMatchObject({ content: [{ id: 'c', input_json: '{"id": 2512292042121000001}' }] });
    expect(reply.usage.estimated).toBe(true);
  });

  test('without usage, or with zeros, is estimated and marked', async () => {
    for (const usage of [[], [usageChunk({ prompt_tokens: 0, completion_tokens: 0 })]]) {
      const { usage: told } = await replyTo({ chunks: [chunk({ content: 'hi' }), chunk({}, 'stop'), ...usage] });
      expect(told.estimated).toBe(true);
      expect(told.input_tokens).toBeGreaterThan(50);
    }
  });

  test('tells cached and reasoning tokens apart, and counts reasoning that only the total holds', async () => {
    const details = {
      prompt_tokens_details: { cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 7 },
    };
    const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 127, ...details };
    const reply = await replyTo({ chunks: [chunk({ content: 'x' }, 'stop'), usageChunk(usage)] });
    const { input_tokens, cache_read_input_tokens, output_tokens, thinking_tokens } = reply.usage;
    expect([input_tokens, cache_read_input_tokens, output_tokens, thinking_tokens]).toEqual([40, 60, 27, 7]);
  });

  test('costs what the task says, whatever name the endpoint answers under', async () => {
    const server = await startChatServer({}, [says('x')]);
    const prices = { input: 1, output: 2, cache_write: 1, cache_read: 1 };
    const reply = await ask(chat(server.url, { config: { id: 'asked', prices } }), REQUEST);
    expect(reply).toMatchObject({ model: 'test-chat', cost_usd: 140 / 1e6 });
  });

  test('holds no secret and no lone surrogate', async () => {
    const server = await startChatServer({}, [calls([{ name: 'read_file', args: '{"path":"\\ud800 hush"}' }])]);
    const redact = (text: string): string => text.replaceAll('hush', '***');
    const { content } = await ask(chat(server.url, { deps: { redact } }), REQUEST);
    expect(content).toMatchObject([{ input_json: '{"path":"\ufffd ***"}' }]);
  });
});

describe('what is sent', () => {
  const image = { type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png', data: 'AA==' } };

  test('pairs every call with its answer, and leaves out what is empty or another service’s', async () => {
    const server = await startChatServer({}, [says('done')]);
    const call = (id: string, input_json = '{}') => ({ type: 'tool_use' as const, id, name: 'read_file', input_json });
    const history: Message[] = [
      user('go'),
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'x', signature: 's' },
          { type: 'text', text: ' ' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: '' }, call('a'), call('b', 'not json')] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: '' }] },
          { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'no' }, image], is_error: true },
          { type: 'text', text: 'and now?' },
        ],
      },
    ];
    await ask(chat(server.url), modelRequest(history, { system: ' ', tools: [READ_FILE], max_tokens: 5 }));
    expect(server.refused).toEqual([]);
    const { messages, ...rest } = server.requests[0]?.body ?? {};
    expect(messages).toMatchObject([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{}, { function: { arguments: '{"INVALID_JSON":"not json"}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: '(no output)' },
      { role: 'tool', tool_call_id: 'b', content: 'Error: no' },
      { role: 'user', content: [{ text: 'and now?' }, { image_url: { url: 'data:image/png;base64,AA==' } }] },
    ]);
    expect(rest).toMatchObject({ model: 'test-chat', max_tokens: 5, stream_options: { include_usage: true } });
  });

  test('says in words what chat completions cannot carry, and what an endpoint refused to look at', async () => {
    const unseen = refusal('unknown variant `image_url`, expected `text`', 400, { type: 'invalid_request_error' });
    const server = await startChatServer({}, [unseen, says('done'), says('done')]);
    const pdf = { ...image, type: 'document' as const };
    const history: Message[] = [
      { role: 'user', content: [{ type: 'text', text: 'see' }, image] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read_file', input_json: '{}' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [pdf] }] },
    ];
    const client = chat(server.url);
    await ask(client, modelRequest(history, { system: '' }));
    await ask(client, modelRequest(history, { system: '' }));
    const sent = server.requests.map(({ body }) => body['messages'] as object[]);
    expect(sent[0]?.[0]).toMatchObject({ content: [{ text: 'see' }, { type: 'image_url' }] });
    for (const messages of sent.slice(1)) {
      expect(messages[0]).toMatchObject({ content: 'see\n\n(an image, which this model cannot be shown)' });
      expect(messages[2]).toMatchObject({ content: '(a PDF, which this model cannot be shown)' });
    }
    expect(sent).toHaveLength(3);
  });

  test.each(['reasoning_content', 'reasoning'])('B187: %s goes back with the calls it came with', async (field) => {
    const server = await startChatServer({}, [
      { chunks: [chunk({ [field]: 'think' }), chunk({ [field]: 'ing' }), ...(calls([CALL]).chunks ?? [])] },
      says('done'),
    ]);
    const client = chat(server.url);
    const first = await ask(client, REQUEST);
    expect(first.content[0]).toMatchObject({ type: 'thinking', thinking: 'thinking' });
    await ask(client, modelRequest([user('go'), ...answered(first)], { tools: [READ_FILE] }));
    expect(server.requests[1]?.body['messages']).toMatchObject([{}, {}, { [field]: 'thinking' }, {}]);
    // Another model is not told what it never thought.
    await ask(chat(server.url, { config: { id: 'other' } }), modelRequest([user('go'), ...answered(first)]));
    expect(server.requests[2]?.text).not.toContain('thinking');
  });

  test('a schema for the output is asked for natively, and told in words where that is refused', async () => {
    const server = await startChatServer({ refuses: ['response_format'] }, [says('{}'), says('{}')]);
    const client = chat(server.url);
    const request = modelRequest(undefined, { output_schema: { type: 'object' } });
    const hooks = recordHooks();
    await ask(client, request, hooks);
    await ask(client, request, hooks);
    expect(hooks.attempts).toMatchObject([{ status: 400, wait_ms: 0 }]);
    expect(server.requests.map(({ body }) => 'response_format' in body)).toEqual([true, false, false]);
    expect(server.requests[1]?.body['messages']).toMatchObject([
      { content: expect.stringContaining('{"type":"object"}') },
      {},
    ]);
  });
});

describe('a key', () => {
  test('goes to the task’s own address, from the variable that the task names', async () => {
    const server = await startChatServer({ key: CHAT_KEY }, [says('x')]);
    const setup = { config: { api_key_env: 'CHAT_KEY' }, deps: { env: { CHAT_KEY: ` ${CHAT_KEY}\n` } } };
    await ask(chat(server.url, setup), REQUEST);
    expect(server.refused).toEqual([]);
  });

  test('of the provider never goes to another address, nor do headers from the environment', async () => {
    process.env['OPENAI_CUSTOM_HEADERS'] = 'x-custom: leak';
    process.env['OPENAI_ORG_ID'] = 'org';
    try {
      const server = await startChatServer({}, [says('x')]);
      await ask(chat(server.url), REQUEST);
      expect(server.refused).toEqual([]);
    } finally {
      delete process.env['OPENAI_CUSTOM_HEADERS'];
      delete process.env['OPENAI_ORG_ID'];
    }
  });

  test('that is missing is told before anything is sent', async () => {
    const deps = { env: { OPENAI_BASE_URL: 'http://127.0.0.1:9' } };
    expect(() => chat('https://api.openai.com/v1', { deps })).toThrow('set OPENAI_API_KEY');
    expect(() => chat('http://127.0.0.1:9', { config: { api_key_env: 'NOT_SET' } })).toThrow('NOT_SET');
    expect(() => chat('ftp://x')).toThrow(UsageError);
    expect(() => chat('https://me:pw@x')).toThrow(UsageError);
  });

  test('is not needed to make the client of a local endpoint', async () => {
    const server = await startChatServer({}, [says('x')]);
    const config = modelConfig({ provider: 'openai', id: 'local', base_url: server.url });
    const times = { clock: testClock(), idle_timeout_ms: 1000, max_retries: 0, deadline: () => 1e5 };
    const client = await createModelClient(config, { ...times, env: {}, random: () => 0, redact: (text) => text });
    expect(await ask(client, REQUEST)).toMatchObject({ content: [{ text: 'x' }] });
  });
});
