import { describe, expect, onTestFinished, test } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { chunk, says, startChatServer, usageChunk } from '../helpers/chat-server/server.ts';
import { tell } from '../run/harness.ts';
import type { Told } from '../run/harness.ts';

const READ = '<tool_call><name>read_file</name><params>{"path": "README.md"}</params></tool_call>';
const WRITE = '<tool_call><name>write_file</name><params>{"path": "b", "file_text": "b"}</params></tool_call>';
const SAID = `I look.\n${READ}\n${WRITE}\n${READ}`;
const TASK = { tools: { read_file: {}, write_file: {} } };

/** What happened between a request and the end of its turn, in order. */
function firstTurn({ events }: Told): string[] {
  const end = events.findIndex(({ type }) => type === 'turn_end');
  const told = events.slice(0, end).filter(({ type }) => type === 'model_reply' || type === 'tool_start');
  return told.map((event) =>
    event.type === 'tool_start' ? `${event.name}${event.early ? ' early' : ''}` : event.type,
  );
}

const ORDER = ['read_file early', 'model_reply', 'write_file', 'read_file'];

describe('a call in free text that only reads starts while the reply still streams, and nothing behind an effect does', () => {
  test('over the Messages API', async () => {
    const server = await startMessagesServer({
      replies: [reply.text(SAID, { delta_size: 9, pause: { after: 'content', until: 100 } }), 'done'],
    });
    onTestFinished(() => server.close());
    const model = { provider: 'anthropic', id: 'claude-sonnet-5-5', base_url: server.url, tool_protocol: 'xml' };
    const run = await tell({ task: TASK, model, env: { ANTHROPIC_API_KEY: 'sk-not-a-real-key-0123456789' } });
    expect(firstTurn(run)).toEqual(ORDER);
    expect(await replay(run)).toMatchObject({ matches: true });
  });

  test('over chat completions', async () => {
    const pieces = [`I look.\n${READ}\n`, `${WRITE}\n`, READ].map((content) => chunk({ content }));
    // Enough behind the calls that the connection takes a while.
    const padding = Array.from({ length: 3000 }, () => chunk({ content: ' '.repeat(200) }));
    const server = await startChatServer({}, [
      { chunks: [...pieces, ...padding, chunk({}, 'stop'), usageChunk()] },
      says('done'),
    ]);
    const model = { provider: 'openai', id: 'local', base_url: server.url, tool_protocol: 'xml' };
    const run = await tell({ task: TASK, model });
    expect(firstTurn(run)).toEqual(ORDER);
    expect(await replay(run)).toMatchObject({ matches: true });
  });
});

describe('a call that only reads starts early over chat completions once another call has begun', () => {
  const args = ['{"path": "README.md"}', '{"path": "./README.md"}', '{"path": "b", "file_text": "b"}'];
  const called = (names: string[]) =>
    names.map((name, index) =>
      chunk({
        tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: args[index] } }],
      }),
    );
  // Enough behind the calls that the connection takes a while.
  const padding = Array.from({ length: 3000 }, () => chunk({ content: ' '.repeat(200) }));
  const model = (base_url: string) => ({ provider: 'openai', id: 'local', base_url });

  test('and what stands last waits for the end of the reply', async () => {
    const names = ['read_file', 'read_file', 'write_file'];
    const server = await startChatServer({}, [
      { chunks: [...called(names), ...padding, chunk({}, 'tool_calls'), usageChunk()] },
      says('done'),
    ]);
    const run = await tell({ task: TASK, model: model(server.url) });
    expect(firstTurn(run)).toEqual(['read_file early', 'read_file early', 'model_reply', 'write_file']);
    expect(server.refused).toEqual([]);
    expect(await replay(run)).toMatchObject({ matches: true });
  });

  test('and a broken stream takes it back, whatever ids the service gives next', async () => {
    const names = ['read_file', 'read_file'];
    const server = await startChatServer({}, [
      { chunks: [...called(names), ...padding], finally: 'reset' },
      { chunks: [...called(names), chunk({}, 'tool_calls'), usageChunk()] },
      says('done'),
    ]);
    const run = await tell({ task: TASK, model: model(server.url) });
    expect(run.outcome.reason).toBe('completed');
    expect(server.refused).toEqual([]);
    const ids = run.events.flatMap((event) => (event.type === 'tool_start' ? event.tool_use_id : []));
    expect(new Set(ids).size).toBe(ids.length);
    expect(await replay(run)).toMatchObject({ matches: true, divergence: null });
  });
});
