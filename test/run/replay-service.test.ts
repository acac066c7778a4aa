import { describe, expect, onTestFinished, test } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { ofType, tell } from './harness.ts';
import type { JsonRecord } from '../helpers/messages-server/json-text.ts';
import type { ReplyLike } from '../helpers/messages-server/types.ts';
import type { Story, Told } from './harness.ts';

const KEY = 'sk-ant-api03-replayed-key-0123456789';
const reads = [
  { name: 'read_file', input: { path: 'README.md' } },
  { name: 'read_file', input: { path: './README.md' } },
];

/** A run against the stand-in of the service; the server is gone when the test replays it. */
async function served(replies: ReplyLike[], story: Story = {}): Promise<Told> {
  const server = await startMessagesServer({ api_key: KEY, replies });
  onTestFinished(() => server.close());
  const told = await tell({
    task: { tools: { read_file: {} }, ...story.task },
    model: { provider: 'anthropic', id: 'claude-sonnet-5-5', base_url: server.url },
    env: { ANTHROPIC_API_KEY: KEY },
  });
  await server.close();
  return told;
}

/** Breaks off long after its calls are complete. */
function broken(...calls: (JsonRecord | undefined)[]): ReplyLike {
  const after = `block_stop:${calls.length - 1}` as const;
  const content = calls.map((call) => ({ type: 'tool_use', ...call }));
  return reply.reset({ content, after, pause: { after, until: 150 } });
}

describe('a recorded run with a service', () => {
  test('is replayed without it, calls of streams that broke included', async () => {
    const told = await served([
      reply.error(529, 'overloaded_error'),
      reply.cut({
        content: reads.map((call) => ({ type: 'tool_use', ...call })),
        after: 'block_stop:1',
        pause: { after: 'block_stop:1', until: 200 },
      }),
      reply.tools([reads[0] ?? {}, { name: 'read_file', input: { path: '././README.md' } }]),
      reply.text('done'),
    ]);
    expect(told.outcome.reason).toBe('completed');
    expect(ofType(told.events, 'attempt')).toHaveLength(2);
    // One was lost with the stream that broke, one was asked again.
    expect(ofType(told.events, 'tool_start')).toHaveLength(3);
    expect(ofType(told.events, 'tool_end').map((end) => end.reused_from !== undefined)).toEqual([true, false]);
    expect(await replay(told)).toMatchObject({ matches: true, divergence: null, events: told.events.length });
  });

  test.each<[string, ReplyLike[]]>([
    ['an attempt that breaks twice', [broken(reads[0]), broken(reads[0]), reply.tools([...reads, ...reads])]],
    [
      'attempts that ask for different things',
      [broken(reads[0]), broken(reads[1], reads[0]), broken(reads[1]), reply.tools(reads)],
    ],
    ['an answer that nobody asks for again', [broken(reads[0]), broken(reads[0]), reply.tools([reads[1] ?? {}])]],
    [
      'calls that are denied and malformed',
      [
        broken({ name: 'read_file', input: { path: '/etc/passwd' } }, reads[0]),
        broken({ name: 'read_file', input: {} }),
        reply.tools(reads),
      ],
    ],
  ])('is replayed with what later attempts took over (%s)', async (_what, replies) => {
    const told = await served([...replies, reply.text('done')]);
    expect(told.outcome.reason).toBe('completed');
    expect(await replay(told)).toMatchObject({ matches: true, divergence: null, events: told.events.length });
  });

  test.each<[string, ReplyLike, Story]>([
    [
      'a stream that stalls',
      reply.stall({ content: [{ type: 'tool_use', ...reads[0] }], after: 'block_stop' }),
      { task: { limits: { timeout: '800ms', idle_timeout: '10s', on_limit: 'stop' } } },
    ],
    ['a service that refuses', reply.error(400, 'invalid_request_error'), {}],
    ['a key that is none', reply.error(401, 'authentication_error'), {}],
    [
      'a window that is full',
      reply.error(400, 'invalid_request_error', { message: 'prompt is too long: 9 tokens > 1 maximum' }),
      {},
    ],
    ['an unknown stop reason', reply.text('x', { stop_reason: 'new_reason' }), {}],
  ])('is replayed when it ended with %s', async (_what, first, story) => {
    const told = await served([reply.tools(reads), first], story);
    expect(told.exit_code).not.toBe(0);
    expect(await replay(told)).toMatchObject({ matches: true, divergence: null, events: told.events.length });
  });
});
