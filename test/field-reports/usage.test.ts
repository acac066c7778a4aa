import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { reply } from '../helpers/messages-server/reply.ts';
import { play, playIn } from './harness.ts';
import { placeOf } from './place.ts';
import { messagesOf } from './requests.ts';
import type { RecordedRequest } from '../helpers/messages-server/types.ts';

const tools = { read_file: {} };
const read = reply.tool('read_file', { path: 'README.md' });

describe('what is counted', () => {
  test('B033: a reply counts once whatever it holds, and the rows add up to the total', async () => {
    const call = { type: 'tool_use', name: 'read_file', input: { path: 'README.md' } };
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
    const usage = {
      input_tokens: 100,
      output_tokens: 50,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 20,
    };
    const many = reply.message({ content: [thinking, { type: 'text', text: 'Reading.' }, call, call, call], usage });
    const run = await play({ task: { tools }, replies: [many, 'done'] });
    const { usage: counted } = run;
    expect(counted).toMatchObject({ requests: 2, turns: 2, total_input_tokens: 160, total_output_tokens: 55 });
    expect(counted.last_input_tokens).toBe(10);
    const sum = (key: 'input_tokens' | 'output_tokens' | 'cost_usd'): number =>
      counted.per_turn.reduce((total, row) => total + (row[key] ?? NaN), 0);
    expect(sum('input_tokens')).toBe(counted.total_input_tokens);
    expect(sum('output_tokens')).toBe(counted.total_output_tokens);
    expect(sum('cost_usd')).toBeCloseTo(counted.cost_usd ?? NaN, 12);
  });

  test('B035: the last numbers of a stream count, and a stream that broke keeps what was seen, marked', async () => {
    const cut = reply.cut({ after: 'message_start', start_usage: { input_tokens: 70, output_tokens: 1 } });
    const whole = reply.text('done', {
      usage: { input_tokens: 80, output_tokens: 9 },
      start_usage: { output_tokens: 1 },
    });
    const run = await play({ replies: [cut, whole] });
    expect(run.usage).toMatchObject({ total_input_tokens: 150, requests: 2, retries: 1, turns: 1, estimated: true });
    const [row] = run.usage.per_turn;
    expect(row?.attempts).toMatchObject([{ input_tokens: 70, estimated: true }]);
    expect(run.events.find((event) => event.type === 'model_reply')).toMatchObject({ usage: { output_tokens: 9 } });
  });

  test('B037: a second run in the same folder counts itself only, under its own id', async () => {
    const place = await placeOf({ replies: ['one', 'two'] });
    const first = await playIn(place);
    place.server.newConversation();
    const second = await playIn(place);
    expect(second.usage).toMatchObject({ requests: 1, turns: 1, total_input_tokens: 10 });
    expect(second.usage.run_id).toBe(second.result.run_id);
    expect(second.usage.run_id).not.toBe(first.usage.run_id);
    expect(second.events[0]).toMatchObject({ seq: 1, run_id: second.result.run_id });
  });

  test('B037: a resumed run keeps what was spent and adds nothing twice', async () => {
    const limits = { max_turns: 1, on_limit: 'stop' };
    const place = await placeOf({ task: { tools, limits }, replies: [read, 'done'] });
    const first = await playIn(place);
    expect(first.usage).toMatchObject({ turns: 1, total_input_tokens: 10 });
    const second = await playIn(place, ['resume', 'out', '--max-turns', '5']);
    expect(second.code).toBe(0);
    expect(second.usage).toMatchObject({ turns: 2, requests: 2, total_input_tokens: 20, run_id: first.usage.run_id });
    expect(second.usage.per_turn.map(({ turn }) => turn)).toEqual([1, 2]);
  });
});

describe('the cache', () => {
  test('B039: the mark moves to the newest results each round, at most four in a request', async () => {
    const run = await play({ task: { tools }, replies: [read, read, read, read, 'done'] });
    expect(run.turns).toHaveLength(5);
    for (const request of run.turns) {
      const marked = markedMessages(request);
      expect(marked.at(-1)).toBe(messagesOf(request).length - 1);
      expect(request.text.match(/"cache_control"/g)?.length).toBeLessThanOrEqual(4);
    }
  });

  test('B039: with a cache that works every round reads what the one before wrote', async () => {
    const server = { simulate_cache: true, cache_minimum_tokens: 1 };
    const run = await play({ task: { tools }, replies: [read, read, read, 'done'], server });
    const usages = run.events.flatMap((event) => (event.type === 'model_reply' ? [event.usage] : []));
    expect(Math.max(...usages.map(({ input_tokens }) => input_tokens))).toBeLessThan(10);
    for (const usage of usages.slice(1)) {
      expect(usage.cache_read_input_tokens).toBeGreaterThan(usage.cache_creation_input_tokens);
    }
  });

  test('B041: two runs of one task send the same first request, byte for byte', async () => {
    const schema = { anyOf: [{ type: 'object', properties: { b: {}, a: {} } }] };
    const place = await placeOf({
      task: { tools: { grep: {}, read_file: {}, bash: { allow: ['ls'] } }, output: { schema } },
      replies: () => reply.tool('submit_result', { result: { a: 1 } }),
    });
    const first = await playIn(place);
    place.server.newConversation();
    const second = await playIn(place);
    expect(second.turns[0]?.text).toBe(first.turns[0]?.text);
    expect(readFileSync(`${place.run_dir}/transcript.jsonl`, 'utf8')).toContain('run_start');
  });
});

function markedMessages(request: RecordedRequest): number[] {
  return messagesOf(request).flatMap(({ content }, index) =>
    content.some((block) => block['cache_control'] !== undefined) ? [index] : [],
  );
}
