import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { calls, chunk, refusal, says, startChatServer } from '../helpers/chat-server/server.ts';
import { play } from './harness.ts';
import type { ChatReply, ChatServer } from '../helpers/chat-server/server.ts';
import type { Json, Rules } from '../helpers/chat-server/rules.ts';
import type { FieldRun } from './harness.ts';

vi.setConfig({ testTimeout: 20_000 });

const KEY = 'sk-field-report-chat-key-0123456789';
const tools = { read_file: {}, glob: {}, write_file: {} };

interface ChatCase {
  replies: ChatReply[];
  rules?: Rules;
  task?: Record<string, unknown>;
  model?: Record<string, unknown>;
}

/** A run against a strict endpoint for chat completions, by the way and with the checks of every other case. */
async function playChat({ replies, rules, task = { tools }, model }: ChatCase): Promise<[FieldRun, ChatServer]> {
  const server = await startChatServer({ key: KEY, ...rules }, replies);
  const service = { provider: 'openai', id: 'test-chat', base_url: server.url, api_key_env: 'CHAT_KEY', ...model };
  const run = await play({ task, model: service, env: { CHAT_KEY: KEY }, canaries: [KEY] });
  expect(run.turns, 'nothing reaches another provider').toEqual([]);
  for (const { text, headers } of server.requests) {
    expect(text.isWellFormed()).toBe(true);
    expect(headers.authorization).toBe(`Bearer ${KEY}`);
  }
  return [run, server];
}

const messagesOf = (server: ChatServer, index: number) => (server.requests[index]?.body['messages'] ?? []) as Json[];
const READ = { name: 'read_file', args: '{"path":"README.md"}' };

test('a run with parallel calls, an effect and a checked output goes from end to end', async () => {
  const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' }, note: { type: 'string' } } };
  const write = { name: 'write_file', args: '{"path":"new.txt","file_text":"made\\n"}' };
  const [run, server] = await playChat({
    task: { tools, output: { schema } },
    replies: [calls([READ, write]), calls([{ name: 'submit_result', args: '{"n":2}', id: 'call_last' }])],
  });
  expect({ code: run.code, output: run.result.output }).toEqual({ code: 0, output: { n: 2 } });
  expect(readFileSync(join(run.workspace, 'new.txt'), 'utf8')).toBe('made\n');
  expect(run.result.usage).toMatchObject({ cost_usd: null });
  expect(server.refused).toEqual([]);
  expect(messagesOf(server, 1).map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool']);
});

test('B055, B189: one task works at an endpoint that takes only strict schemas and at one that takes any', async () => {
  const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' }, note: { type: 'string' } } };
  for (const strict of [false, true]) {
    const last = strict ? '{"n":2,"note":null}' : '{"n":2}';
    const [run, server] = await playChat({
      rules: { strict },
      task: { tools, output: { schema } },
      replies: [calls([READ]), calls([{ name: 'submit_result', args: last, id: 'call_last' }])],
    });
    expect({ code: run.code, output: run.result.output }).toEqual({ code: 0, output: { n: 2 } });
    expect(server.refused).toHaveLength(strict ? 1 : 0);
    expect(server.requests).toHaveLength(strict ? 3 : 2);
    const start = run.events.find((event) => event.type === 'run_start');
    expect(start?.type === 'run_start' && start.task.output.schema).toEqual(schema);
  }
});

test('B069: an integer above 2^53 is in the history and the output as the model wrote it', async () => {
  const id = '2512292042121000001';
  const args = `{"path":"${id}.txt","limit":${id}}`;
  const [run, server] = await playChat({ replies: [calls([{ name: 'read_file', args }]), says('done')] });
  expect(run.code).toBe(0);
  expect(messagesOf(server, 1).at(-2)).toMatchObject({ tool_calls: [{ function: { arguments: args } }] });
});

test('B183: a call with empty arguments is run with none', async () => {
  const custom = { name: 'hello', description: 'Greets.', command: ['echo', 'greeting'], effect: 'read' };
  const tool = { ...custom, input_schema: { type: 'object', properties: {} } };
  const [run, server] = await playChat({
    task: { custom_tools: [tool] },
    replies: [calls([{ name: 'hello', args: '' }]), says('done')],
  });
  expect(run.code).toBe(0);
  expect(messagesOf(server, 1).at(-1)?.['content']).toContain('greeting');
});

test('B169: arguments that are no JSON are answered with the error, and the run goes on', async () => {
  const broken = { name: 'write_file', args: '{"path": x"}' };
  const [run, server] = await playChat({ replies: [calls([broken]), says('done')] });
  expect(run.code).toBe(0);
  expect(messagesOf(server, 1).at(-1)?.['content']).toMatch(/^Error: .*JSON/s);
});

describe('B185: calls are run', () => {
  test('when the reply says that it stopped', async () => {
    const [run, server] = await playChat({ replies: [calls([READ], 'stop'), says('done')] });
    expect({ code: run.code, output: run.result.output }).toEqual({ code: 0, output: 'done' });
    expect(messagesOf(server, 1).at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('hello') });
  });

  test('but not when it was cut or withheld', async () => {
    const write = { name: 'write_file', args: '{"path":"new.txt","file_text":"half"}' };
    const [cut, server] = await playChat({ replies: [calls([write], 'length'), says('done')] });
    expect(existsSync(join(cut.workspace, 'new.txt'))).toBe(false);
    expect(server.refused).toEqual([]);
    const [refused] = await playChat({ replies: [calls([write], 'content_filter')] });
    expect(refused.result).toMatchObject({ status: 'failure', exit_reason: 'refused' });
    expect(existsSync(join(refused.workspace, 'new.txt'))).toBe(false);
  });
});

test('B187: an endpoint in thinking mode gets its reasoning_content back with the calls', async () => {
  const thought = { chunks: [chunk({ reasoning_content: 'I should look.' }), ...(calls([READ]).chunks ?? [])] };
  const [run, server] = await playChat({ rules: { thinking: true }, replies: [thought, says('done')] });
  expect(run.code).toBe(0);
  expect(server.refused).toEqual([]);
});

test('B107: a model that is not served ends the run at once, naming it and the address', async () => {
  const [run, server] = await playChat({ replies: [refusal('no such model', 404)] });
  expect(run.code).not.toBe(0);
  expect(server.requests).toHaveLength(1);
  expect(run.stderr).toContain('"test-chat"');
  expect(run.stderr).toContain(server.url);
});

test('B025: a limit in USD without a price is a mistake of the task, and with the task’s own price it holds', async () => {
  const task = { tools, limits: { max_cost_usd: 1 } };
  const [unknown, silent] = await playChat({ model: { id: 'deepseek-chat' }, task, replies: [says('done')] });
  expect({ code: unknown.code, sent: silent.requests.length }).toEqual({ code: 2, sent: 0 });
  const prices = { input: 1, output: 1 };
  const [known] = await playChat({ model: { id: 'deepseek-chat', prices }, task, replies: [says('done')] });
  expect({ code: known.code, cost: known.result.usage.cost_usd }).toEqual({ code: 0, cost: 120 / 1e6 });
});

test('a missing key is told before anything is sent, and the key of another provider is never taken', async () => {
  const [run, server] = await playChat({ model: { api_key_env: 'NOT_SET' }, replies: [] });
  expect({ code: run.code, sent: server.requests.length }).toEqual({ code: 2, sent: 0 });
  expect(run.stderr).toContain('NOT_SET');
});
