import { execFileSync } from 'node:child_process';
import { constants, existsSync, openSync, readFileSync, writeSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { run } from '../../src/run/run.ts';
import { gate, reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { processesWith } from '../helpers/processes.ts';
import { configOf } from '../run/harness.ts';
import type { RunEvent } from '../../src/core/events.ts';
import type { SegmentResult } from '../../src/run/segment.ts';
import type { BlockSpec, MessagesServer, Reply } from '../helpers/messages-server/types.ts';

vi.setConfig({ testTimeout: 20_000 });

const KEY = 'sk-ant-api03-not-a-real-key-0123456789';
const TOOLS = { read_file: {}, write_file: {}, bash: { allow: ['cat *'] } };

interface Going {
  events: RunEvent[];
  workspace: string;
  server: MessagesServer;
  done: Promise<SegmentResult>;
}

interface Scene {
  replies: (Reply | string)[];
  limits?: Record<string, unknown>;
  tools?: Record<string, unknown>;
  /** Hears each event in the moment it happens. */
  hear?: (event: RunEvent, workspace: string) => void;
}

/** Starts a run against the service's stand-in and shows its events as they happen. */
async function begin({ replies, limits = {}, tools = TOOLS, hear }: Scene): Promise<Going> {
  const server = await startMessagesServer({ api_key: KEY, replies });
  onTestFinished(() => server.close());
  const model = { provider: 'anthropic', id: 'claude-sonnet-5-5', base_url: server.url };
  const { config, folder, workspace } = await configOf({ model, task: { tools, limits } });
  execFileSync('mkfifo', [join(workspace, 'one'), join(workspace, 'two')]);
  const events: RunEvent[] = [];
  const onEvent = (event: RunEvent): void => {
    events.push(event);
    hear?.(event, workspace);
  };
  const env = { PATH: process.env['PATH'] ?? '', ANTHROPIC_API_KEY: KEY };
  const done = run({ config, env, cwd: folder, subscribers: () => [{ name: 'test', onEvent }] });
  done.catch(() => {}); // a test that fails before it waits for the end
  return { events, workspace, server, done };
}

const call = (name: string, input: Record<string, unknown>): BlockSpec => ({ type: 'tool_use', name, input });
const cat = (path: string): BlockSpec => call('bash', { command: `cat ${path}` });
const write = (path: string): BlockSpec => call('write_file', { path, file_text: 'written\n' });
const read = (path: string): BlockSpec => call('read_file', { path });

/** Waits until somebody reads the pipe, then says something into it: proof that the call is running now. */
async function feed(pipe: string, text: string): Promise<void> {
  const descriptor = await vi.waitFor(() => openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK), {
    timeout: 5000,
  });
  writeSync(descriptor, text);
  closeSync(descriptor);
}

const kinds = (events: readonly RunEvent[], ...types: RunEvent['type'][]): string[] =>
  events.filter(({ type }) => types.includes(type)).map(({ type }) => type);

/** Type and tool of the events about calls, in the order of the journal. */
function story(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === 'policy_verdict' || event.type === 'tool_start' || event.type === 'tool_end'
      ? [`${event.type} ${event.tool_use_id.slice(-1)}`]
      : [],
  );
}

function resultTexts({ turns }: MessagesServer): unknown[] {
  const messages = (turns[1]?.body['messages'] ?? []) as { content: { content?: { text: string }[] }[] }[];
  return (messages.at(-1)?.content ?? []).map(({ content }) => content?.[0]?.text);
}

describe('a call that only reads', () => {
  test('starts when its block is complete, while the reply still streams', async () => {
    const hold = gate();
    const content = [cat('one'), { type: 'text', text: 'and more to come' }];
    const { events, workspace, server, done } = await begin({
      replies: [reply.message({ content, pause: { after: 'block_stop:0', until: hold } }), 'done'],
    });
    await Promise.race([hold.reached, done]);
    await feed(join(workspace, 'one'), 'read early');
    expect(kinds(events, 'tool_start', 'model_reply')).toEqual(['tool_start']);
    expect(events.find(({ type }) => type === 'tool_start')).toMatchObject({ early: true, effect: 'read' });
    hold.release();
    expect((await done).exit_code).toBe(0);
    expect(resultTexts(server)).toEqual(['read early']);
    expect(server.failures).toEqual([]);
  });

  test('runs at the same time as others, and results stand in block order', async () => {
    const { events, workspace, server, done } = await begin({
      replies: [reply.message({ content: [cat('one'), cat('two'), read('README.md')] }), 'done'],
    });
    await feed(join(workspace, 'two'), 'second');
    await feed(join(workspace, 'one'), 'first');
    expect((await done).exit_code).toBe(0);
    expect(resultTexts(server)).toEqual(['first', 'second', expect.stringContaining('hello')]);
    expect(story(events).filter((line) => line.startsWith('tool_end'))).toEqual([
      'tool_end 0',
      'tool_end 1',
      'tool_end 2',
    ]);
    expect(server.failures).toEqual([]);
  });

  test('behind an effect waits for it, and sees what it did', async () => {
    const hold = gate();
    const { events, server, done } = await begin({
      replies: [
        reply.message({
          content: [write('a.txt'), read('a.txt'), read('README.md')],
          pause: { after: 'message_delta', until: hold },
        }),
        'done',
      ],
    });
    await Promise.race([hold.reached, done]);
    await settled(events);
    expect(story(events)).toEqual([]);
    hold.release();
    expect((await done).exit_code).toBe(0);
    expect(resultTexts(server)[1]).toContain('written');
    expect(story(events).slice(0, 5)).toEqual([
      'policy_verdict 0',
      'tool_start 0',
      'tool_end 0',
      'policy_verdict 1',
      'tool_start 1',
    ]);
  });

  test('in front of an effect is over before the effect begins', async () => {
    const { events, workspace, done } = await begin({
      replies: [reply.message({ content: [cat('one'), write('a.txt')] }), 'done'],
    });
    await vi.waitFor(() => expect(kinds(events, 'model_reply')).toHaveLength(1));
    await settled(events);
    expect(existsSync(join(workspace, 'a.txt'))).toBe(false);
    await feed(join(workspace, 'one'), 'x');
    expect((await done).exit_code).toBe(0);
    expect(story(events)).toEqual([
      'policy_verdict 0',
      'tool_start 0',
      'tool_end 0',
      'policy_verdict 1',
      'tool_start 1',
      'tool_end 1',
    ]);
  });
});

describe('a call with an effect', () => {
  test('does not start before the reply is whole', async () => {
    const hold = gate();
    const { events, workspace, done } = await begin({
      replies: [reply.message({ content: [write('a.txt')], pause: { after: 'message_delta', until: hold } }), 'done'],
    });
    await Promise.race([hold.reached, done]);
    await settled(events);
    expect(kinds(events, 'policy_verdict', 'tool_start')).toEqual([]);
    expect(existsSync(join(workspace, 'a.txt'))).toBe(false);
    hold.release();
    expect((await done).exit_code).toBe(0);
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('written\n');
  });

  test('is announced on disk before it happens, its verdict before that', async () => {
    const seen: { type: string; exists: boolean; recorded: boolean }[] = [];
    const { done } = await begin({
      replies: [reply.message({ content: [write('a.txt')] }), 'done'],
      hear({ type, seq }, workspace) {
        if (type !== 'policy_verdict' && type !== 'tool_start') return;
        const transcript = readFileSync(join(workspace, '../run/transcript.jsonl'), 'utf8');
        const recorded = transcript.trimEnd().split('\n').at(-1)?.startsWith(`{"seq":${seq},`) ?? false;
        seen.push({ type, exists: existsSync(join(workspace, 'a.txt')), recorded });
      },
    });
    await done;
    expect(seen).toEqual([
      { type: 'policy_verdict', exists: false, recorded: true },
      { type: 'tool_start', exists: false, recorded: true },
    ]);
  });
});

describe('early calls of an attempt that failed', () => {
  test('are abandoned, their processes ended, and they count', async () => {
    const hold = gate();
    const { events, server, done } = await begin({
      limits: { max_tool_calls: 1, on_limit: 'stop' },
      replies: [
        reply.cut({
          content: [cat('one'), { type: 'text', text: 'x' }],
          after: 'content',
          pause: { after: 'block_stop:0', until: hold },
          headers: { 'retry-after-ms': '1' },
        }),
        reply.message({ content: [read('README.md')] }),
        'never',
      ],
    });
    await Promise.race([hold.reached, done]);
    await vi.waitFor(() => expect(kinds(events, 'tool_start')).toHaveLength(1));
    hold.release();
    const { outcome } = await done;
    expect(outcome).toEqual({ reason: 'max_tool_calls', limit: 1, used: 2 });
    expect(processesWith('cat one')).toEqual([]);
    expect(events.filter(({ type }) => type === 'tool_end')).toMatchObject([{ status: 'over_limit' }]);
    expect(server.failures).toEqual([]);
  });

  test('give no result of their own: the attempt that is kept has one for each of its calls, in order', async () => {
    const content = [read('README.md'), read('a.txt')];
    const { events, server, done } = await begin({
      replies: [
        reply.cut({ content, after: 'content', headers: { 'retry-after-ms': '1' } }),
        reply.message({ content }),
        'done',
      ],
    });
    expect((await done).exit_code).toBe(0);
    const kept = story(events).filter((line) => line.startsWith('tool_end'));
    expect(kept).toEqual(['tool_end 0', 'tool_end 1']);
    expect(resultTexts({ ...server, turns: server.turns.slice(1) })).toEqual([
      expect.stringContaining('hello'),
      expect.stringContaining('a.txt'),
    ]);
    expect(server.failures).toEqual([]);
  });

  test.each(['refusal', 'max_tokens'])(
    'are ended too when the whole reply is dropped for its %s',
    async (stop_reason) => {
      const { events, done } = await begin({
        replies: [reply.message({ content: [cat('one')], stop_reason }), 'done'],
      });
      const { exit_code } = await done;
      expect(exit_code).toBe(stop_reason === 'refusal' ? 7 : 0);
      expect(processesWith('cat one')).toEqual([]);
      expect(kinds(events, 'tool_end')).toEqual([]);
    },
  );
});

test('a concluding turn starts nothing, however early its calls are complete', async () => {
  const { events, done } = await begin({
    limits: { max_turns: 1 },
    replies: [reply.message({ content: [cat('one')] })],
  });
  expect((await done).exit_code).toBe(4);
  expect(kinds(events, 'tool_start')).toEqual([]);
});

/** Lets everything that could start do so: no new event for some rounds of the event loop. */
async function settled(events: readonly RunEvent[]): Promise<void> {
  for (let quiet = 0, last = -1; quiet < 20; quiet += 1) {
    if (events.length !== last) quiet = 0;
    last = events.length;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
