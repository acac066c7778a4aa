// Endpoints that do not keep to the protocol, each over HTTP and through a whole run.
import { describe, expect, test } from 'vitest';
import { calls, chunk, says, startChatServer, USAGE, usageChunk } from '../helpers/chat-server/server.ts';
import { ofType, tell } from './harness.ts';
import type { ChatReply } from '../helpers/chat-server/server.ts';
import type { Rules } from '../helpers/chat-server/rules.ts';

const READ = { name: 'read_file', args: '{"path":"README.md"}' };

async function ask(
  replies: ChatReply[],
  task: object = {},
  { model = {}, rules = {} }: { model?: object; rules?: Rules } = {},
) {
  const server = await startChatServer(rules, replies);
  const whole = { provider: 'openai', id: 'test-chat', base_url: server.url, ...model };
  const told = await tell({ model: whole, task: { tools: { read_file: {} }, limits: { max_retries: 1 }, ...task } });
  return { ...told, server, replies: ofType(told.events, 'model_reply'), ends: ofType(told.events, 'tool_end') };
}

/** The answer of an endpoint that takes no notice of `stream`. */
function whole(message: object, finish_reason: string): ChatReply {
  const body = { id: 'x', object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage: USAGE };
  return { body };
}

describe('an endpoint', () => {
  test('that ignores stream is read whole, calls and usage included', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: READ.name, arguments: READ.args } };
    const asked = whole({ role: 'assistant', content: null, tool_calls: [call] }, 'tool_calls');
    const { result, ends } = await ask([asked, whole({ role: 'assistant', content: 'It says hello.' }, 'stop')]);
    expect(result).toMatchObject({ exit_code: 0, output: 'It says hello.' });
    expect(result.usage).toMatchObject({ total_input_tokens: 200, total_output_tokens: 40, estimated: false });
    expect(ends).toMatchObject([{ status: 'ok', tool_use_id: 'call_1' }]);
  });

  test('that sends no usage is counted from above, marked as estimated', async () => {
    const { result, replies } = await ask([{ chunks: [chunk({ content: 'hello' }), chunk({}, 'stop')] }]);
    expect(result).toMatchObject({ exit_code: 0, usage: { estimated: true } });
    const { usage } = replies[0] ?? {};
    expect(usage?.input_tokens).toBeGreaterThan(100);
    expect(usage?.output_tokens).toBeGreaterThan(0);
  });

  test('that repeats an id of a call, in one turn and over turns, has each call run and answered once', async () => {
    const twice = calls([
      { ...READ, id: 'call_1' },
      { ...READ, id: 'call_1' },
    ]);
    const { result, ends, server } = await ask([twice, calls([{ ...READ, id: 'call_1' }]), says('done')]);
    expect(result).toMatchObject({ exit_code: 0, output: 'done', tool_calls: { total: 3, failed: 0 } });
    expect(new Set(ends.map(({ tool_use_id }) => tool_use_id)).size).toBe(3);
    expect(server.refused).toEqual([]); // the next request pairs every call with its answer
  });

  test('that sends arguments as an object has them run as the text they came as', async () => {
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: READ.name, arguments: { path: 'README.md' } },
    };
    const { result, ends } = await ask([
      { chunks: [chunk({ tool_calls: [call] }), chunk({}, 'tool_calls'), usageChunk()] },
      says('done'),
    ]);
    expect(result).toMatchObject({ exit_code: 0, output: 'done' });
    expect(ends).toMatchObject([{ status: 'ok' }]);
  });

  test('that ends without [DONE] is done if a finish reason came', async () => {
    const { result, events } = await ask([{ ...says('all of it'), no_done: true }]);
    expect(result).toMatchObject({ exit_code: 0, output: 'all of it' });
    expect(ofType(events, 'attempt')).toEqual([]);
  });

  test('that ends without [DONE] and without a finish reason is asked again, and what came is counted', async () => {
    const { result, events } = await ask([{ chunks: [chunk({ content: 'half' })], no_done: true }, says('whole')]);
    expect(result).toMatchObject({ exit_code: 0, output: 'whole', usage: { retries: 1, estimated: true } });
    expect(ofType(events, 'attempt')).toMatchObject([{ error_type: 'truncated_stream' }]);
  });

  test('that answers 200 with an error body is asked again, then the run ends with its words', async () => {
    const error: ChatReply = {
      body: { error: { message: 'the engine is overloaded', type: 'server_error', code: 500 } },
    };
    const { result, server } = await ask([error, error]);
    expect(result).toMatchObject({ exit_code: 6, exit_reason: 'api_error', output: null });
    expect(result.message).toContain('the engine is overloaded');
    expect(server.requests).toHaveLength(2);
  });

  test('that answers 200 with an error that waiting does not cure is not asked again', async () => {
    const { result, server } = await ask([{ body: { error: { message: 'no such key', code: 401 } } }]);
    expect(result).toMatchObject({ exit_code: 6, exit_reason: 'auth_error' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('the output', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'integer' } },
    required: ['n'],
    additionalProperties: false,
  };

  test('goes through the output tool unless the task says that the endpoint takes response_format', async () => {
    const submit = calls([{ name: 'submit_result', args: '{"n":1}' }]);
    const { result, server } = await ask([submit], { output: { schema } });
    expect(result).toMatchObject({ exit_code: 0, output: { n: 1 } });
    expect(server.requests[0]?.body).not.toHaveProperty('response_format');
  });

  test('is asked for by response_format where the task says so, and checked all the same', async () => {
    const model = { response_format: true };
    const { result, server } = await ask([says('{"n":"one"}'), says('{"n":1}')], { output: { schema } }, { model });
    expect(result).toMatchObject({ exit_code: 0, output: { n: 1 }, turns: 2 });
    expect(server.requests[0]?.body).toMatchObject({ response_format: { json_schema: { schema } } });
    expect(JSON.stringify(server.requests[0]?.body['tools'])).not.toContain('submit_result');
  });

  test('is never what the model only thought: it is asked for, and missing when no answer comes', async () => {
    const thought = says('<think>\nIt is {"n":1}.\n</think>\n');
    const asked = await ask([thought, says('<think>Hm.</think>\n\nIt is one.')]);
    expect(asked.result).toMatchObject({ exit_code: 0, output: 'It is one.', turns: 2 });
    const text = await ask([thought, thought, thought]);
    expect(text.result).toMatchObject({ exit_code: 3, exit_reason: 'output_missing', output: null });
    const json = await ask([thought, thought, thought], { output: { schema } });
    expect(json.result).toMatchObject({ exit_code: 3, exit_reason: 'output_missing', output: null });
  });

  test('is told in words where response_format is refused after all', async () => {
    const given = { model: { response_format: true }, rules: { refuses: ['response_format'] } };
    const { result, server } = await ask([says('{"n":1}')], { output: { schema } }, given);
    expect(result).toMatchObject({ exit_code: 0, output: { n: 1 } });
    expect(server.requests.map(({ body }) => 'response_format' in body)).toEqual([true, false]);
  });
});
