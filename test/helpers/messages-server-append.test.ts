import Anthropic from '@anthropic-ai/sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { post, readError, readEvents, request } from './messages-server/raw-client.ts';
import { reply } from './messages-server/reply.ts';
import { startMessagesServer } from './messages-server/server.ts';
import type { JsonRecord } from './messages-server/json-text.ts';
import type { MessagesServer, ServerOptions } from './messages-server/types.ts';

const open: MessagesServer[] = [];

async function start(options: ServerOptions = {}): Promise<MessagesServer> {
  const server = await startMessagesServer({ replies: (_request, n) => `answer ${n}`, ...options });
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(async (server) => server.close()));
});

async function send(server: MessagesServer, body: JsonRecord): Promise<string> {
  const response = await post(server, body);
  if (response.status !== 200) return (await readError(response)).message;
  await readEvents(response);
  return 'accepted';
}

const tools = [{ name: 'bash', input_schema: { type: 'object', properties: { command: { type: 'string' } } } }];
const first = { role: 'user', content: 'Hello' };
const answer = { role: 'assistant', content: 'answer 1' };
const second = { role: 'user', content: 'And now?' };
const base = { tools, system: 'Be brief.' };

describe('a conversation', () => {
  test('may grow, be repeated, and move its cache marks', async () => {
    const server = await start();
    const mark = { cache_control: { type: 'ephemeral' } };
    expect(await send(server, request({ ...base, messages: [first] }))).toBe('accepted');
    expect(await send(server, request({ ...base, messages: [first] }))).toBe('accepted');
    const marked = [{ type: 'text', text: 'Hello', ...mark }];
    const grown = [{ role: 'user', content: marked }, answer, second];
    const system = [{ type: 'text', text: 'Be brief.', ...mark }];
    expect(await send(server, request({ tools: [{ ...tools[0], ...mark }], system, messages: grown }))).toBe(
      'accepted',
    );
    expect(server.failures).toEqual([]);
  });

  test.each<[string, JsonRecord, string]>([
    ['system', { system: 'Be long.', messages: [first, answer, second] }, 'system: '],
    ['the tools', { tools: [], messages: [first, answer, second] }, 'tools: '],
    [
      'the order of keys in a tool',
      { tools: [{ input_schema: tools[0]?.input_schema, name: 'bash' }], messages: [first, answer, second] },
      'tools: ',
    ],
    ['an earlier message', { messages: [{ role: 'user', content: 'Hullo' }, answer, second] }, 'messages.0: '],
    ['the number of messages', { messages: [second] }, 'messages.0: '],
  ])('may not change %s', async (_what, changes, message) => {
    const server = await start();
    expect(await send(server, request({ ...base, messages: [first] }))).toBe('accepted');
    const refused = await send(server, request({ ...base, ...changes }));
    expect(refused).toContain(message);
    expect(refused).toContain('Invalid signature in thinking block. The block is bound to a different conversation');
  });

  test('stays as it was accepted when a request is refused, or answered with an error', async () => {
    const replies = [reply.text('answer 1'), reply.error(529, 'overloaded_error'), 'b'];
    const server = await start({ replies });
    expect(await send(server, request({ ...base, messages: [first] }))).toBe('accepted');
    const grown = request({ ...base, messages: [first, answer, second] });
    expect(await send(server, { ...grown, top_k: 1 })).toContain('top_k');
    expect(await send(server, grown)).toBe('overloaded_error');
    expect(await send(server, request({ ...base, messages: [first] }))).toContain('messages.1: ');
    expect(await send(server, grown)).toBe('accepted');
  });

  test('ends where the test says so', async () => {
    const server = await start();
    const other = request({ messages: [second] });
    expect(await send(server, request({ messages: [first] }))).toBe('accepted');
    expect(await send(server, other)).toContain('messages.0: ');
    server.newConversation();
    expect(await send(server, other)).toBe('accepted');
  });

  test('can be told by its first message, or by a key', async () => {
    const byMessage = await start({ conversations: 'by_first_message' });
    const byKey = await start({ conversations: ({ body }) => String(body['model']) });
    for (const server of [byMessage, byKey]) {
      expect(await send(server, request({ ...base, messages: [first] }))).toBe('accepted');
    }
    expect(await send(byMessage, request({ messages: [second] }))).toBe('accepted');
    expect(await send(byMessage, request({ messages: [first] }))).toContain('tools: ');
    expect(await send(byKey, request({ model: 'claude-opus-5-5', messages: [second] }))).toBe('accepted');
    expect(await send(byKey, request({ messages: [first] }))).toContain('tools: ');
  });
});

/** The smallest agent loop over the SDK: runs until there is no tool call, and returns the last text. */
async function runLoop(client: Anthropic, messages: Anthropic.MessageParam[]): Promise<string> {
  for (;;) {
    const content: Anthropic.ContentBlockParam[] = [];
    let json = '';
    const definitions = [{ name: 'bash', input_schema: { type: 'object' as const } }];
    const params = { model: 'claude-sonnet-5-5', max_tokens: 1000, tools: definitions, messages };
    for await (const event of await client.messages.create({ ...params, stream: true })) {
      if (event.type === 'content_block_start') content.push({ ...event.content_block });
      const block = content.at(-1);
      if (event.type === 'content_block_start') json = '';
      if (event.type === 'content_block_stop' && block?.type === 'tool_use') block.input = JSON.parse(json || '{}');
      if (event.type !== 'content_block_delta' || block === undefined) continue;
      const { delta } = event;
      if (delta.type === 'text_delta' && block.type === 'text') block.text += delta.text;
      if (delta.type === 'input_json_delta') json += delta.partial_json;
      if (delta.type === 'thinking_delta' && block.type === 'thinking') block.thinking += delta.thinking;
      if (delta.type === 'signature_delta' && block.type === 'thinking') block.signature += delta.signature;
    }
    messages.push({ role: 'assistant', content });
    const calls = content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const results = calls.map((call) => ({
      type: 'tool_result' as const,
      tool_use_id: call.id,
      content: JSON.stringify(call.input),
    }));
    messages.push({ role: 'user', content: results });
  }
}

test('a plain tool loop over the SDK passes', async () => {
  const thinking = { type: 'thinking', thinking: 'two at once', signature: 'abc' };
  const two = ['ls', 'pwd'].map((command) => ({ type: 'tool_use', name: 'bash', input: { command } }));
  const server = await start({
    replies: [reply.tool('bash', { command: 'ls' }), reply.message({ content: [thinking, ...two] }), 'All done.'],
  });
  const client = new Anthropic({ apiKey: 'test-key', baseURL: server.url, maxRetries: 0 });
  expect(await runLoop(client, [{ role: 'user', content: 'Look around' }])).toBe('All done.');
  expect(server.turns).toHaveLength(3);
  expect(server.failures).toEqual([]);
});
