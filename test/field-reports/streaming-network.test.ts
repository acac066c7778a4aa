import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { frame, reply } from '../helpers/messages-server/reply.ts';
import { REQUEST_TOKEN, startTokenServer } from '../helpers/token-server/server.ts';
import { play } from './harness.ts';
import { KEY } from './place.ts';
import { blocksOf, messagesOf, resultsOf } from './requests.ts';
import type { ReplyLike } from '../helpers/messages-server/types.ts';
import type { TokenServerOptions } from '../helpers/token-server/types.ts';
import type { FieldRun } from './harness.ts';

vi.setConfig({ testTimeout: 20_000 });

const tools = { read_file: {}, write_file: {} };
const SOON = { 'retry-after-ms': '1' };
const attemptsOf = ({ events }: FieldRun) => events.filter((event) => event.type === 'attempt');

describe('a stream', () => {
  test('B163: without message_stop is a failed attempt: nothing of it runs with effect or enters the history', async () => {
    const write = { type: 'tool_use', name: 'write_file', input: { path: 'a.txt', file_text: 'x'.repeat(200) } };
    const whole = { type: 'tool_use', name: 'write_file', input: { path: 'b.txt', file_text: 'y' } };
    for (const after of ['delta', 'block_stop:0', 'content', 'message_delta'] as const) {
      const run = await play({
        task: { tools },
        replies: [reply.cut({ content: [whole, write], after, headers: SOON }), 'done'],
      });
      expect(run.code, after).toBe(0);
      expect(run.turns).toHaveLength(2);
      expect(run.turns[1]?.text).toBe(run.turns[0]?.text);
      expect(run.events.filter((event) => event.type === 'tool_start')).toEqual([]);
      expect(run.artifact('changes.patch')).toBeUndefined();
    }
  });

  test('B165: that stalls is ended by the idle timeout, and bytes of any kind keep it alive', async () => {
    const run = await play({
      task: { limits: { idle_timeout: '250ms' } },
      replies: [reply.stall({ after: 'message_start' }), 'second'],
    });
    expect({ code: run.code, output: run.result.output }).toEqual({ code: 0, output: 'second' });
    expect(attemptsOf(run)).toMatchObject([{ error_type: 'idle_timeout' }]);
    const slow = await play({
      task: { limits: { idle_timeout: '250ms', max_retries: 0 } },
      replies: [
        reply.text('0123456789', {
          delta_size: 1,
          pause: [4, 6, 8, 10].map((n) => ({ after: `event:${n}` as const, until: 150 })),
        }),
      ],
    });
    expect(slow.result.output).toBe('0123456789');
    expect((await play({ replies: ['x'] })).result.limits.idle_timeout_ms).toBeLessThanOrEqual(120_000);
  });

  test.each(['overloaded_error', 'api_error', 'rate_limit_error', 'timeout_error'])(
    'B167: that begins or goes on with the error %s is tried again',
    async (type) => {
      const run = await play({
        replies: [
          reply.sseError(type, { headers: SOON }),
          reply.sseError(type, { after: 'delta', headers: SOON }),
          'done',
        ],
      });
      expect({ code: run.code, requests: run.usage.requests }).toEqual({ code: 0, requests: 3 });
    },
  );

  test.each(['invalid_request_error', 'authentication_error', 'permission_error', 'billing_error'])(
    'B167: with the error %s ends the run',
    async (type) => {
      const run = await play({ replies: [reply.sseError(type)] });
      expect(run.code).toBe(6);
      expect(run.turns).toHaveLength(1);
    },
  );

  test('B169: of tool input that is not JSON is answered with the parse error, and nothing runs', async () => {
    const broken = { type: 'tool_use', name: 'write_file', input_json: '{"path": "a.txt", "file_text": x"}' };
    const run = await play({ task: { tools }, replies: [reply.message({ content: [broken] }), 'done'] });
    expect(run.code).toBe(0);
    expect(resultsOf(run.turns[1])).toMatchObject([
      { is_error: true, text: expect.stringMatching(/not valid JSON|JSON/) as string },
    ]);
    expect(blocksOf(messagesOf(run.turns[1])[1])[0]?.['input']).toBeTypeOf('object');
    expect(run.events.filter((event) => event.type === 'tool_start')).toEqual([]);
  });

  test('B171: is what every request asks for, whatever its cap', async () => {
    const run = await play({ model: { max_tokens: 32_000 }, replies: ['done'] });
    expect(run.turns[0]?.body).toMatchObject({ stream: true, max_tokens: 32_000 });
  });

  test('B179: that is aborted settles within a second, whatever it was doing', async () => {
    const stalls: ReplyLike[] = [
      reply.stall({ after: 'request' }),
      reply.stall({ after: 'head' }),
      reply.stall({ after: 'delta' }),
    ];
    for (const stall of stalls) {
      const run = await play({ task: { limits: { timeout: '400ms', on_limit: 'stop' } }, replies: [stall] });
      expect(run.result).toMatchObject({ exit_reason: 'timeout' });
      expect(run.result.duration_ms).toBeLessThan(1400);
    }
  });
});

describe('trying again', () => {
  test('B173: waits as long as the service asks: milliseconds, seconds or a date', async () => {
    const date = new Date(Date.now() + 1000).toUTCString();
    const run = await play({
      replies: [
        reply.error(429, 'rate_limit_error', { headers: { 'retry-after-ms': '20' } }),
        reply.error(429, 'rate_limit_error', { headers: { 'retry-after': '0.05' } }),
        reply.error(503, 'api_error', { headers: { 'retry-after': date } }),
        'done',
      ],
    });
    expect(run.code).toBe(0);
    const waits = attemptsOf(run).map(({ wait_ms }) => wait_ms ?? 0);
    expect(waits.slice(0, 2)).toEqual([20, 50]);
    expect(waits[2]).toBeLessThanOrEqual(1000);
  });

  test('B173: ends at once when the wait does not fit, and says how long it would have been', async () => {
    const run = await play({
      task: { limits: { timeout: '60s' } },
      replies: [reply.error(429, 'rate_limit_error', { headers: { 'retry-after': '90' } })],
    });
    expect(run.result).toMatchObject({ exit_reason: 'rate_limited', exit_code: 6 });
    expect(run.result.message).toContain('90s');
    expect(run.result.duration_ms).toBeLessThan(5000);
  });

  const FINAL: [status: number, type: string, message: string][] = [
    [400, 'invalid_request_error', 'bad'],
    [400, 'invalid_request_error', 'Your credit balance is too low to access the API.'],
    [401, 'authentication_error', 'no'],
    [402, 'billing_error', 'no'],
    [403, 'permission_error', 'no'],
    [404, 'not_found_error', 'no'],
    [413, 'request_too_large', 'no'],
  ];

  test.each(FINAL)('B175: is not done after %i %s', async (status, type, message) => {
    const run = await play({ replies: [reply.error(status, type, { message })] });
    expect(run.code).toBe(6);
    expect(run.turns).toHaveLength(1);
    expect(run.result.message).toContain(String(status));
  });

  test.each([
    ['ends well when the fresh one is taken', [0, 600], 'completed'],
    ['ends the run when the fresh one is refused too', [0, 0], 'auth_error'],
  ])('B175: gets one fresh token after a keyless 401, and %s', async (_, expires_in, exit_reason) => {
    const options: TokenServerOptions = { upstream_key: KEY, expires_in };
    const tokens = await startTokenServer(options);
    onTestFinished(() => tokens.close());
    const run = await play({
      model: { base_url: tokens.url },
      env: { ...tokens.env, ANTHROPIC_API_KEY: '' },
      replies: ['done'],
      prepare: ({ server, canaries }) => {
        options.upstream = server.url;
        canaries.push(REQUEST_TOKEN);
      },
    });
    expect(run.result).toMatchObject({ exit_reason });
    expect(tokens.used).toEqual(tokens.access);
    expect(tokens.access).toHaveLength(2);
    for (const text of [run.stdout, run.stderr, run.artifact('transcript.jsonl'), run.artifact('result.json')])
      for (const token of [...tokens.access, ...tokens.identity]) expect(text).not.toContain(token);
  });

  test('B177: is done after a connection that was reset, before and within the answer', async () => {
    const run = await play({
      replies: [reply.reset({ after: 'request' }), reply.reset({ after: 'delta' }), 'done'],
    });
    expect(run.code).toBe(0);
    expect(attemptsOf(run)).toMatchObject([{ error_type: 'connection_error' }, { error_type: 'connection_error' }]);
  });

  test('B177: is done after a refused connection, and says so when nobody ever answers', async () => {
    const port = await freePort();
    const run = await play({
      model: { base_url: `http://127.0.0.1:${port}` },
      task: { limits: { max_retries: 1 } },
    });
    expect(run.result).toMatchObject({ exit_reason: 'api_error', exit_code: 6 });
    expect(run.result.message).toContain('ECONNREFUSED');
    expect(run.usage).toMatchObject({ requests: 2, retries: 1, total_input_tokens: 0 });
  });

  test('B181: is one line on stderr and one record each: status, type, attempt of how many, wait', async () => {
    const busy = reply.error(529, 'overloaded_error', { headers: SOON });
    const run = await play({ replies: [busy, busy, busy, 'done'] });
    const lines = run.stderr.split('\n').filter((line) => line.includes('attempt'));
    expect(lines).toHaveLength(3);
    for (const [index, line] of lines.entries()) {
      expect(line).toMatch(new RegExp(`attempt ${index + 1} of 9 failed: 529 overloaded_error; trying again in 1 ms`));
    }
    expect(attemptsOf(run)).toMatchObject(
      [1, 2, 3].map((attempt) => ({
        attempt,
        max_attempts: 9,
        status: 529,
        error_type: 'overloaded_error',
        wait_ms: 1,
      })),
    );
  });
});

describe('our own tools', () => {
  const ALL = { read_file: {}, glob: {}, grep: {}, write_file: {}, edit_file: {}, bash: { allow: ['ls'] }, git: {} };

  test('B189: are plain: objects that say which keys there are, without $schema, $ref, default or format', async () => {
    const run = await play({ task: { tools: ALL }, replies: ['done'] });
    const sent = (run.turns[0]?.body['tools'] ?? []) as { name: string; input_schema: Record<string, unknown> }[];
    expect(sent.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(ALL)));
    for (const { input_schema } of sent) {
      expect(input_schema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(Object.keys(input_schema).sort()).toEqual(['additionalProperties', 'properties', 'required', 'type']);
      expect(input_schema['required']).toEqual(Object.keys(input_schema['properties'] ?? {}));
      expect(JSON.stringify(input_schema)).not.toMatch(/"(?:\$schema|\$ref|default|format)"/);
    }
  });
});

test('a stream with events and frames of a later version is read all the same', async () => {
  const run = await play({
    replies: [
      reply.text('done', {
        extra_events: [{ after: 'message_start', event: 'new_thing', data: { type: 'new_thing' } }],
        pings: true,
      }),
    ],
  });
  expect(run.result.output).toBe('done');
  expect(frame('ping', {})).toContain('event: ping');
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
