import { expect, test } from 'vitest';
import { createModelClient } from '../../src/model/create.ts';
import { createRequestWriter } from '../../src/model/request-body.ts';
import { calls, chunk, says, startChatServer } from '../helpers/chat-server/server.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { answered, ask, KEY, modelConfig, modelRequest, READ_FILE, testClock, user } from './setup.ts';

const deps = {
  env: { ANTHROPIC_API_KEY: KEY },
  clock: testClock(),
  random: () => 0,
  idle_timeout_ms: 1000,
  max_retries: 0,
  deadline: () => 600_000,
  redact: (text: string) => text,
};

test('thinking that only the endpoint can read is not sent to the Messages API, which would refuse it', async () => {
  const call = { name: 'read_file', args: '{"path":"a"}' };
  const thought = { chunks: [chunk({ reasoning_content: 'look' }), ...(calls([call]).chunks ?? [])] };
  const there = await startChatServer({}, [thought]);
  const openai = modelConfig({ provider: 'openai', id: 'test-chat', base_url: there.url });
  const first = await ask(await createModelClient(openai, deps), modelRequest(undefined, { tools: [READ_FILE] }));
  const write = createRequestWriter({ model: 'claude-sonnet-5-5', adaptive_thinking: false });
  const body: unknown = JSON.parse(write(modelRequest([user('go'), ...answered(first)])).toString());
  const content = [{ type: 'tool_use', id: 'call_x0', name: 'read_file', input: { path: 'a' } }];
  expect(body).toMatchObject({ messages: [{}, { role: 'assistant', content }, {}] });
});

test('a history of the Messages API goes on at an endpoint, without its thinking', async () => {
  const there = await startChatServer({}, [says('from there')]);
  const thinking = { type: 'thinking', thinking: 'look', signature: 'c2ln' };
  const called = { type: 'tool_use', name: 'read_file', input: { path: 'a' } };
  const here = await startMessagesServer({
    api_key: KEY,
    replies: [
      reply.message({ content: [thinking, called], stop_reason: 'tool_use' }),
      reply.error(529, 'overloaded_error'),
    ],
  });
  const openai = modelConfig({ provider: 'openai', id: 'test-chat', base_url: there.url });
  const client = await createModelClient({ ...modelConfig({ base_url: here.url }), fallback: [openai] }, deps);
  const first = await ask(client, modelRequest([user('go')], { tools: [READ_FILE] }));
  const history = [user('go'), ...answered(first)];
  expect(await ask(client, modelRequest(history, { tools: [READ_FILE] }))).toMatchObject({
    content: [{ text: 'from there' }],
  });
  expect(there.refused).toEqual([]);
  expect(there.requests[0]?.text).not.toContain('look');
  await here.close();
});
