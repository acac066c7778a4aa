import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Message } from '../../src/core/messages.ts';
import { createModelClient } from '../../src/model/create.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import type { MessagesServer } from '../helpers/messages-server/types.ts';
import { anthropic, ask, KEY, modelConfig, modelRequest, recordHooks, testClock, user } from './setup.ts';

let server: MessagesServer;
beforeEach(async () => {
  server = await startMessagesServer({ api_key: KEY, conversations: 'by_first_message' });
});
afterEach(() => server.close());

const config = { claude_api: true };
const asking = modelRequest([user('hello')], { summarize: true });

describe('a summary by the service', () => {
  test('comes as the block it sent, billed as it says beside its usage', async () => {
    const usage = { input_tokens: 1000, cache_read_input_tokens: 3000, output_tokens: 200 };
    server.push(reply.summary('so far', { usage }), 'going on');
    const client = anthropic(server.url, { config });
    const result = await ask(client, asking);
    const json = '{"type":"compaction","content":"so far","signature":"sig_1"}';
    expect(result).toMatchObject({ stop_reason: 'compaction', content: [{ type: 'opaque', json }] });
    expect(result.usage).toMatchObject(usage);
    expect(result.cost_usd).toBeCloseTo((1000 * 2 + 3000 * 0.1 + 200 * 10) / 1e6, 10);
    const history: Message[] = [{ role: 'assistant', content: result.content }, user('go on')];
    await ask(client, modelRequest(history));
    expect(server.failures).toEqual([]);
  });

  test('that holds a secret counts as none, for changed text would not match its signature', async () => {
    server.push(reply.summary('the key is hunter2'));
    const client = anthropic(server.url, {
      config,
      deps: { redact: (text) => text.replaceAll('hunter2', '[redacted]') },
    });
    const { content } = await ask(client, asking);
    expect(content).toEqual([{ type: 'opaque', json: '{"type":"compaction","content":null}' }]);
  });

  test('is asked for beside the beta features of the environment', async () => {
    server.push(reply.summary('so far'), 'text');
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_CUSTOM_HEADERS: 'X-A: b\nAnthropic-Beta: one-2026-01-01, two' };
    const client = anthropic(server.url, { config, deps: { env } });
    await ask(client, asking);
    await ask(client, modelRequest());
    const sent = server.turns.map(({ headers }) => headers['anthropic-beta']);
    expect(sent).toEqual(['one-2026-01-01,two,compact-2026-09-04', 'one-2026-01-01,two']);
  });

  test.each([
    ['claude-sonnet-5-5', true, true],
    ['claude-sonnet-5-5', false, false],
    ['claude-haiku-5-5', true, false],
    ['claude-unknown-9', true, false],
  ])('is offered by model %s at the Claude API %s: %s', (id, claude_api, offered) => {
    expect(anthropic(server.url, { config: { id, claude_api } }).summarizes).toBe(offered);
  });

  test('that is refused does not change the model', async () => {
    server.push(reply.error(400, 'invalid_request_error'), 'from the first');
    const fallback = [modelConfig({ id: 'claude-opus-5', base_url: server.url, ...config })];
    const client = await createModelClient(modelConfig({ base_url: server.url, ...config, fallback }), {
      env: { ANTHROPIC_API_KEY: KEY },
      clock: testClock(),
      random: () => 0,
      idle_timeout_ms: 5000,
      max_retries: 0,
      deadline: () => 60_000,
      redact: (text) => text,
    });
    expect(client.summarizes).toBe(true);
    const refused = await client.send(asking, recordHooks(), new AbortController().signal);
    expect(refused).toMatchObject({ ok: false, kind: 'api_error', status: 400 });
    expect((await ask(client, modelRequest())).model).toBe('claude-sonnet-5-5');
  });
});
