import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { COMPACT_BETA } from './messages-server/check-compaction.ts';
import type { JsonRecord } from './messages-server/json-text.ts';
import { post, readError, readEvents, request } from './messages-server/raw-client.ts';
import { reply } from './messages-server/reply.ts';
import { startMessagesServer } from './messages-server/server.ts';
import type { MessagesServer } from './messages-server/types.ts';

const beta = { 'anthropic-beta': COMPACT_BETA };
const asked = { compaction: { type: 'summarize' } };
const block = { type: 'compaction', content: 'so far', signature: 'sig_1' };
const go = { role: 'user', content: 'Go on' };

let server: MessagesServer;
beforeEach(async () => {
  server = await startMessagesServer({ conversations: 'by_first_message' });
});
afterEach(() => server.close());

async function summary(): Promise<void> {
  server.push(reply.summary('so far', { usage: { input_tokens: 100, output_tokens: 20 } }), 'going on');
  expect((await post(server, request(asked), beta)).status).toBe(200);
}

describe('a request for a summary', () => {
  test('is answered with one whole signed block, whose cost stands beside the usage', async () => {
    server.push(reply.summary('so far', { usage: { input_tokens: 100, output_tokens: 20 } }));
    const events = await readEvents(await post(server, request(asked), beta));
    const data = events.map((event) => event.data);
    expect(data).toContainEqual({ type: 'content_block_start', index: 0, content_block: block });
    expect(data.some(({ type }) => type === 'content_block_delta')).toBe(false);
    const end = data.find(({ type }) => type === 'message_delta');
    expect(end).toMatchObject({ delta: { stop_reason: 'compaction' }, usage: { input_tokens: 0, output_tokens: 0 } });
    const iterations = [{ type: 'compaction', input_tokens: 100, output_tokens: 20 }];
    expect(end).toMatchObject({ usage: { iterations } });
  });

  test.each<[string, JsonRecord, Record<string, string>]>([
    ['without its header', asked, {}],
    ['with the header of the other kind', asked, { 'anthropic-beta': 'compact-2026-01-12' }],
    ['of another type', { compaction: { type: 'forget' } }, beta],
    ['with an unknown field', { compaction: { type: 'summarize', trigger: 1 } }, beta],
    ['with an output format', { ...asked, output_config: { format: { type: 'json_schema', schema: {} } } }, beta],
    ['with stop sequences', { ...asked, stop_sequences: ['x'] }, beta],
    ['of a model that has none', { ...asked, model: 'claude-haiku-5-5' }, beta],
  ])('is refused %s', async (_name, changes, headers) => {
    expect((await post(server, request(changes), headers)).status).toBe(400);
  });

  test('is refused while calls are open', async () => {
    server.push(reply.tool('look', {}));
    await post(server, request());
    const call = { type: 'tool_use', id: 'toolu_0001_0', name: 'look', input: {} };
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: [call] },
    ];
    const error = await readError(await post(server, request({ ...asked, messages }), beta));
    expect(error.message).toContain('not finished');
  });

  test('and its reply must be of one kind', async () => {
    server.push('text', reply.summary('so far'));
    expect((await post(server, request(asked), beta)).status).toBe(400);
    expect((await post(server, request(), beta)).status).toBe(400);
    expect(server.failures).toEqual([expect.stringContaining('script'), expect.stringContaining('script')]);
  });
});

describe('a request that carries a summary', () => {
  test.each([
    ['a message of its own', [{ role: 'assistant', content: [block] }, go]],
    ['the first block', [{ role: 'user', content: [block, { type: 'text', text: 'Go on' }] }]],
  ])('is accepted with the block as %s', async (_name, messages) => {
    await summary();
    expect((await post(server, request({ messages }), beta)).status).toBe(200);
  });

  test.each<[string, JsonRecord[], Record<string, string>]>([
    ['without its header', [{ role: 'assistant', content: [block] }, go], {}],
    ['behind a message', [go, { role: 'assistant', content: [block] }, go], beta],
    ['twice', [{ role: 'assistant', content: [block] }, { role: 'user', content: [block] }, go], beta],
    ['changed', [{ role: 'assistant', content: [{ ...block, content: 'else' }] }, go], beta],
    ['with another signature', [{ role: 'assistant', content: [{ ...block, signature: 'sig_9' }] }, go], beta],
    ['with a field more', [{ role: 'assistant', content: [{ ...block, citations: null }] }, go], beta],
  ])('is refused %s', async (_name, messages, headers) => {
    await summary();
    expect((await post(server, request({ messages }), headers)).status).toBe(400);
  });
});

test('the capability shows only with the header', async () => {
  const shownTo = async (headers: Record<string, string>): Promise<unknown> => {
    const all = { authorization: 'Bearer k', 'anthropic-version': '2026-10-21', ...headers };
    const response = await fetch(`${server.url}/v1/models/claude-opus-5`, { headers: all });
    return ((await response.json()) as { capabilities: JsonRecord }).capabilities['compaction'];
  };
  expect(await shownTo({})).toBeUndefined();
  expect(await shownTo(beta)).toEqual({ supported: true, summarize: { supported: true } });
});

test('diagnostics take the id of an earlier message, or null', async () => {
  server.push('one', 'two', 'three');
  const reason = async (previous_message_id: unknown): Promise<unknown> => {
    server.newConversation();
    const response = await post(server, request({ stream: false, diagnostics: { previous_message_id } }));
    return ((await response.json()) as JsonRecord)['diagnostics'];
  };
  expect(await reason(null)).toEqual({ cache_miss_reason: null });
  expect(await reason('msg_0001')).toEqual({ cache_miss_reason: null });
  expect(await reason('msg_9999')).toEqual({ cache_miss_reason: { type: 'previous_message_not_found' } });
  expect(await reason(7)).toBeUndefined();
});
