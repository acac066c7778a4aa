import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { STOP_REASONS, toolUses } from '../../src/core/messages.ts';
import type { Message } from '../../src/core/messages.ts';
import { gate, reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import type { BlockSpec, MessagesServer } from '../helpers/messages-server/types.ts';
import { anthropic, answered, ask, KEY, modelRequest, READ_FILE, recordHooks, user } from './setup.ts';

let server: MessagesServer;
beforeEach(async () => {
  server = await startMessagesServer({ api_key: KEY });
});
afterEach(async () => {
  await server.close();
});

/** Plays a reply, sends it back with its answers, and returns what the server says about the second request. */
async function roundTrip(content: BlockSpec[], options: object = {}): Promise<{ failures: string[]; text: string }> {
  server.push(reply.message({ content, ...options }), 'done');
  const client = anthropic(server.url);
  const history: Message[] = [user('hello')];
  const first = await ask(client, modelRequest(history, { tools: [READ_FILE] }));
  await ask(client, modelRequest([...history, ...answered(first)], { tools: [READ_FILE] }));
  return { failures: server.failures, text: server.turns[1]?.text ?? '' };
}

describe('a reply', () => {
  test.each(STOP_REASONS)('is passed through with stop reason %s', async (stop_reason) => {
    server.push(reply.text('some text', { stop_reason }));
    const result = await ask(anthropic(server.url), modelRequest());
    expect(result).toMatchObject({ stop_reason, content: [{ type: 'text', text: 'some text' }] });
    expect(result).not.toHaveProperty('stop_reason_raw');
  });

  test('keeps an unknown stop reason beside the word unknown', async () => {
    server.push(reply.text('x', { stop_reason: 'out_of_ideas' }));
    const result = await ask(anthropic(server.url), modelRequest());
    expect(result).toMatchObject({ stop_reason: 'unknown', stop_reason_raw: 'out_of_ideas' });
  });

  test('carries the details of a refusal', async () => {
    const stop_details = { category: 'cyber', explanation: 'no' };
    server.push(reply.text("I can't", { stop_reason: 'refusal', stop_details }));
    expect(await ask(anthropic(server.url), modelRequest())).toMatchObject({ stop_details });
  });

  test('has ids, the cumulative usage, its cost and its duration', async () => {
    const usage = {
      input_tokens: 100,
      cache_creation_input_tokens: 2000,
      cache_read_input_tokens: 3000,
      cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 1500 },
      output_tokens: 400,
      output_tokens_details: { thinking_tokens: 300 },
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
    };
    server.push(reply.text('x', { usage, start_usage: { input_tokens: 90, output_tokens: 1 } }));
    const result = await ask(anthropic(server.url), modelRequest());
    expect(result).toMatchObject({ model: 'claude-sonnet-5-5', message_id: 'msg_0001', request_id: 'req_0001' });
    expect(result.usage).toEqual({
      input_tokens: 100,
      cache_creation_input_tokens: 2000,
      cache_read_input_tokens: 3000,
      cache_creation_1h_input_tokens: 1500,
      output_tokens: 400,
      thinking_tokens: 300,
      web_search_requests: 2,
    });
    const micros = 100 * 2 + 500 * 2.5 + 1500 * 4 + 3000 * 0.1 + 400 * 10;
    expect(result.cost_usd).toBeCloseTo(micros / 1e6 + 0.02, 10);
    expect(result.duration_ms).toBeGreaterThanOrEqual(0);
  });

  test('costs what the model that answered costs, and null when that one has no price', async () => {
    const usage = { input_tokens: 1_000_000, output_tokens: 0 };
    for (const model of ['claude-haiku-4-5', 'claude-sonnet-5-5-20260801', 'somebody-elses-model']) {
      server.push(reply.text('x', { usage, model }));
    }
    const client = anthropic(server.url);
    const costs: (number | null)[] = [];
    for (let n = 0; n < 3; n += 1) costs.push((await ask(client, modelRequest())).cost_usd);
    expect(costs).toEqual([1, 2, null]);
  });

  test('offers each call when its block is complete, before the reply is', async () => {
    const held = gate();
    const calls = ['a', 'b'].map((path) => ({ name: 'read_file', input: { path } }));
    server.push(reply.tools(calls, { pause: { after: 'block_stop:0', until: held } }));
    const hooks = recordHooks();
    const offered = new Promise<void>((resolve) => {
      hooks.onBlock = (block) => {
        hooks.blocks.push(block);
        resolve();
      };
    });
    const asked = ask(anthropic(server.url), modelRequest(undefined, { tools: [READ_FILE] }), hooks);
    await offered;
    expect(hooks.blocks.map(({ input_json }) => input_json)).toEqual(['{"path":"a"}']);
    held.release();
    expect(toolUses((await asked).content)).toEqual(hooks.blocks);
    expect(hooks.blocks).toHaveLength(2);
  });

  test('of a call without parameters has the input {}', async () => {
    server.push(reply.tools([{ name: 'read_file', input_json: '' }]));
    const result = await ask(anthropic(server.url), modelRequest(undefined, { tools: [READ_FILE] }));
    expect(toolUses(result.content)[0]?.input_json).toBe('{}');
  });

  test('ignores pings, events, deltas and blocks it does not know', async () => {
    const extra_events = [{ after: 'delta' as const, event: 'weather', data: { type: 'weather', sky: 'blue' } }];
    const content = [
      { type: 'text', text: 'hello' },
      { type: 'hologram', beams: 3 },
    ];
    server.push(reply.message({ content, extra_events, pings: true }));
    const result = await ask(anthropic(server.url), modelRequest());
    expect(result.content).toEqual([
      { type: 'text', text: 'hello' },
      { type: 'opaque', json: '{"type":"hologram","beams":3}' },
    ]);
  });

  test('is whole when bytes and surrogate pairs are split', async () => {
    const text = 'Grüße, 日本語 👩‍💻 fin';
    server.push(reply.text(text, { delta_size: 1, wire_size: 1 }));
    expect((await ask(anthropic(server.url), modelRequest())).content).toEqual([{ type: 'text', text }]);
  });
});

describe('content that goes back', () => {
  test('B009: thinking stays in place with its signature, also when it is empty', async () => {
    const { failures, text } = await roundTrip([
      { type: 'thinking', thinking: '', signature: 'c2ln' },
      { type: 'text', text: 'first' },
      { type: 'redacted_thinking', data: 'ZGF0YQ==' },
      { type: 'thinking', thinking: 'a "quoted" thought', signature: 'c2lnMg==' },
      { type: 'tool_use', name: 'read_file', input: { path: 'x' }, caller: { type: 'direct' } },
    ]);
    expect(failures).toEqual([]);
    expect(text).toContain('"signature":"c2lnMg=="');
    expect(text).toContain('"caller":{"type":"direct"}');
  });

  test('B007: parallel calls are one message in which each id stands once', async () => {
    const call = (path: string) => ({ type: 'tool_use', name: 'read_file', input: { path } });
    const { failures, text } = await roundTrip([{ type: 'text', text: 'three' }, call('a'), call('b'), call('c')]);
    expect(failures).toEqual([]);
    expect(text.match(/"id":"toolu_0001_1"/g)).toHaveLength(1);
  });

  test('B069: numbers keep their spelling, keys their order and their repetition', async () => {
    const input_json = '{"id":2512292042121000001,"2":1.0,"1":-0,"e":1E5,"id":1e400}';
    const { failures, text } = await roundTrip([{ type: 'tool_use', name: 'read_file', input_json }]);
    expect(failures).toEqual([]);
    expect(text).toContain(input_json);
  });

  test('keeps vendor fields and citations as they came', async () => {
    const { failures } = await roundTrip([
      { type: 'text', text: 'cited', citations: [{ type: 'char_location', start: 1 }], z: 1, '1': 'one' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input_json: '{"query":"x","n":1.0}' },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ encrypted_content: 'abc', n: 2 }] },
      { type: 'tool_use', id: 'toolu_1', caller: { type: 'direct' }, name: 'read_file', input: {}, note: null },
    ]);
    expect(failures).toEqual([]);
  });

  test('B011: blank text is left out', async () => {
    const { failures, text } = await roundTrip([
      { type: 'text', text: '' },
      { type: 'text', text: ' \n' },
      { type: 'tool_use', name: 'read_file', input: {} },
    ]);
    expect(failures).toEqual([]);
    expect(text).not.toContain('"text":""');
  });

  test('B013: an empty reply is left out and the question after it follows', async () => {
    expect((await roundTrip([])).failures).toEqual([]);
  });

  test.each(['{"a": x"}', '["a"]', '{"path":"un'])(
    'B169: input that is no object (%s) goes back as one',
    async (raw) => {
      const { failures, text } = await roundTrip([{ type: 'tool_use', name: 'read_file', input_json: raw }]);
      expect(failures).toEqual([]);
      expect(text).toContain(`{"INVALID_JSON":${JSON.stringify(raw)}}`);
    },
  );

  test('B205: lone surrogates become the replacement character', async () => {
    const before = server;
    // The stand-in compares with the lone surrogate it sent.
    server = await startMessagesServer({ tolerate: ['reply_changed'] });
    await before.close();
    const { failures, text } = await roundTrip([
      { type: 'text', text: '\ud83d x' },
      { type: 'tool_use', name: 'read_file', input_json: '{"path":"\\ud83d"}' },
    ]);
    expect(failures).toEqual([]);
    expect(text).toContain('"text":"\ufffd x"');
    expect(text).toContain('{"path":"\ufffd"}');
  });

  test('B157: has secrets replaced before it is offered, signatures excepted', async () => {
    const redact = (text: string) => text.replaceAll('hunter2', '***');
    const content = [
      { type: 'thinking', thinking: 'it is hunter2', signature: 'hunter2' },
      { type: 'text', text: 'hunter2!', note: 'hunter2' },
      {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'read_file',
        input_json: '{"path":"\\u0068unter2","n":1.0,"hunter2":1}',
      },
      { type: 'search_result', found: 'hunter2', encrypted_content: 'hunter2' },
    ];
    server.push(reply.message({ content }));
    const hooks = recordHooks();
    const client = anthropic(server.url, { deps: { redact } });
    const result = await ask(client, modelRequest(undefined, { tools: [READ_FILE] }), hooks);
    expect(result.content).toEqual([
      { type: 'thinking', thinking: 'it is ***', signature: 'hunter2' },
      { type: 'text', text: '***!', note: '***' },
      { type: 'tool_use', id: 'toolu_1', name: 'read_file', input_json: '{"path":"***","n":1.0,"***":1}' },
      { type: 'opaque', json: '{"type":"search_result","found":"***","encrypted_content":"hunter2"}' },
    ]);
    expect(hooks.blocks).toEqual([result.content[2]]);
  });

  test('pause_turn goes back without a user message', async () => {
    server.push(reply.text('searching', { stop_reason: 'pause_turn' }), 'done');
    const client = anthropic(server.url);
    const first = await ask(client, modelRequest());
    await ask(client, modelRequest([user('hello'), { role: 'assistant', content: first.content }]));
    expect(server.failures).toEqual([]);
  });
});
