import { expect, onTestFinished, test } from 'vitest';
import { says, startChatServer } from '../helpers/chat-server/server.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { ofType, tell } from '../run/harness.ts';

const KEY = 'sk-not-a-real-key-0123456789abcdef';
const READ = '<tool_call><name>read_file</name><params>{"path": "README.md"}</params></tool_call>';
const TASK = { tools: { read_file: {} }, limits: { max_retries: 0 } };
const down = reply.error(500, 'api_error');

test('a model that calls tools takes over from one that writes them', async () => {
  const server = await startMessagesServer({ replies: [`I look.\n${READ}`, down] });
  onTestFinished(() => server.close());
  const chat = await startChatServer({}, [says('hello it is')]);
  const fallback = [{ provider: 'openai', id: 'local', base_url: chat.url }];
  const model = { id: 'claude-sonnet-5-5', base_url: server.url, tool_protocol: 'xml', fallback };
  const run = await tell({ task: TASK, model, env: { ANTHROPIC_API_KEY: KEY } });
  expect([run.outcome.reason, run.output_text]).toEqual(['completed', 'hello it is']);
  expect([...server.failures, ...chat.refused]).toEqual([]);
  expect(chat.requests[0]?.body['tools']).toHaveLength(1);
  expect(chat.requests[0]?.body['messages']).toMatchObject([
    { role: 'system' },
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ function: { name: 'read_file' } }] },
    { role: 'tool', content: expect.stringContaining('hello') },
  ]);
});

test('a model that writes its calls takes over from one that makes them', async () => {
  const server = await startMessagesServer({ replies: [reply.tool('read_file', { path: 'README.md' }), down] });
  onTestFinished(() => server.close());
  const chat = await startChatServer({}, [says(READ), says('hello twice')]);
  const fallback = [{ provider: 'openai', id: 'local', base_url: chat.url, tool_protocol: 'xml' }];
  const model = { id: 'claude-sonnet-5-5', base_url: server.url, fallback };
  const run = await tell({ task: TASK, model, env: { ANTHROPIC_API_KEY: KEY } });
  expect([run.outcome.reason, run.output_text]).toEqual(['completed', 'hello twice']);
  expect([...server.failures, ...chat.refused]).toEqual([]);
  expect(ofType(run.events, 'tool_end').map(({ status }) => status)).toEqual(['ok', 'ok']);
  expect(chat.requests[0]?.body).not.toHaveProperty('tools');
  const said = JSON.stringify(chat.requests[1]?.body['messages']);
  expect(said.match(/<tool_call><name>read_file<\/name><params>/g)).toHaveLength(2);
  expect(said.match(/<tool_result call=\\"1\\" name=\\"read_file\\">/g)).toHaveLength(2);
});

test('a schema that binds the first model is told in words to one that writes its calls', async () => {
  const schema = {
    type: 'object',
    properties: { sum: { type: 'integer' } },
    required: ['sum'],
    additionalProperties: false,
  };
  const server = await startMessagesServer({ replies: [down] });
  onTestFinished(() => server.close());
  const chat = await startChatServer({}, [says(READ), says('{"sum": 3}')]);
  const fallback = [{ provider: 'openai', id: 'local', base_url: chat.url, tool_protocol: 'xml' }];
  const model = { id: 'claude-sonnet-5-5', base_url: server.url, fallback };
  const run = await tell({ task: { ...TASK, output: { schema } }, model, env: { ANTHROPIC_API_KEY: KEY } });
  expect([run.outcome.reason, run.output_text]).toEqual(['completed', '{"sum": 3}']);
  expect(chat.requests[0]?.body).not.toHaveProperty('response_format');
  expect(JSON.stringify(chat.requests[0]?.body['messages'])).toContain('valid against this schema');
});
