import { describe, expect, onTestFinished, test } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { KEY, MODEL } from './fill.ts';
import { ofType, tell } from './harness.ts';
import type { MessageSpec, MessagesServer, ReplyLike } from '../helpers/messages-server/types.ts';
import type { Told } from './harness.ts';

const cached = { cache_creation_input_tokens: 5000, input_tokens: 0 };
const reads = { cache_read_input_tokens: 5000, input_tokens: 100 };
const missed = { cache_creation_input_tokens: 5100, input_tokens: 0 };

interface Asked extends Told {
  server: MessagesServer;
}

async function play(replies: ReplyLike[], model: object = { claude_api: true }): Promise<Asked> {
  const server = await startMessagesServer({ replies });
  onTestFinished(() => server.close());
  const run = await tell({
    task: { tools: { read_file: {} } },
    model: { provider: 'anthropic', id: MODEL, base_url: server.url, ...model },
    env: { ANTHROPIC_API_KEY: KEY },
  });
  expect(server.failures).toEqual([]);
  expect((await replay({ run_dir: run.run_dir })).divergence).toBeNull();
  return { ...run, server };
}

function read(usage: object, spec: MessageSpec = {}): ReplyLike {
  return reply.tool('read_file', { path: 'README.md' }, { usage: { ...usage }, ...spec });
}

function because(type: string): MessageSpec {
  return { diagnostics: { cache_miss_reason: { type, cache_missed_input_tokens: 5000 } } };
}

describe('at the Claude API', () => {
  test('each request names the message before it', async () => {
    const run = await play([read(cached), read(reads), reply.text('done', { usage: reads })]);
    expect(run.server.turns.map(({ body }) => body['diagnostics'])).toEqual([
      { previous_message_id: null },
      { previous_message_id: 'msg_0001' },
      { previous_message_id: 'msg_0002' },
    ]);
    expect(run.result['warnings']).toEqual([]);
  });

  test('a turn that reads nothing is told, once', async () => {
    const run = await play([read(cached), read(missed), read(missed), reply.text('done', { usage: reads })]);
    expect(run.result['warnings']).toEqual([expect.stringContaining('turn 2 read nothing from the prompt cache')]);
    expect(ofType(run.events, 'notice').map(({ code }) => code)).toEqual(['cache_nothing_read']);
  });

  test('each reason of the service is told once, in its own word', async () => {
    const run = await play([
      read(cached),
      read(missed, because('messages_changed')),
      read(reads, because('messages_changed')),
      read(reads, because('tools_changed')),
      reply.text('done', { usage: reads }),
    ]);
    expect(run.result['warnings']).toEqual([
      expect.stringMatching(/turn 2 missed the prompt cache, and the service says "messages_changed"/),
      expect.stringMatching(/turn 4 .*"tools_changed"/),
    ]);
    expect(ofType(run.events, 'model_reply')[1]).toMatchObject({ cache_miss_reason: 'messages_changed' });
    expect(run.outcome.reason).toBe('completed');
  });

  test('a reason that says nothing of the prompt is kept, and no warning', async () => {
    const run = await play([read(cached), reply.text('done', { usage: reads, ...because('unavailable') })]);
    expect(ofType(run.events, 'model_reply')[1]).toMatchObject({ cache_miss_reason: 'unavailable' });
    expect(run.result['warnings']).toEqual([]);
  });

  test('a prompt too small for any cache is no miss', async () => {
    const small = { input_tokens: 400 };
    const run = await play([read(small), reply.text('done', { usage: small })]);
    expect(run.result['warnings']).toEqual([]);
  });
});

test('elsewhere nothing is asked and nothing told', async () => {
  const run = await play([read(cached), reply.text('done', { usage: missed })], {});
  expect(run.server.turns.map(({ body }) => 'diagnostics' in body)).toEqual([false, false]);
  expect(run.result['warnings']).toEqual([]);
});
