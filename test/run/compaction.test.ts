import { describe, expect, test } from 'vitest';
import { reply } from '../helpers/messages-server/reply.ts';
import { fill, full, NAMES, read, said } from './fill.ts';
import { ofType } from './harness.ts';
import type { Told } from './harness.ts';

const SCHEMA = {
  type: 'object',
  properties: { sum: { type: 'number' } },
  required: ['sum'],
  additionalProperties: false,
};
const SUMMARY = 'Read a, b and c; d is left.';

function numbers(run: Told): Record<string, number> {
  return JSON.parse(run.artifact('usage.json') ?? '{}') as Record<string, number>;
}

describe('a run whose window fills', () => {
  test('goes on from a summary to its output, and no request was too large', async () => {
    const run = await fill([...full, SUMMARY, read('d'), 'all read']);
    expect(run.server.failures).toEqual([]);
    expect(run.outcome.reason).toBe('completed');
    expect(run.output_text).toBe('all read');
    expect(ofType(run.events, 'compacted')).toHaveLength(1);
    const [, , , asked, after] = run.server.turns;
    expect(said(asked).at(-1)).toContain('context window is almost full');
    expect(said(after)).toHaveLength(1);
    expect(said(after)[0]).toMatch(/Do it\..*Read a, b and c; d is left\./);
  });

  test('compacts as often as it must', async () => {
    const run = await fill([...full, 'first', read('d'), read('e'), read('f'), 'second', 'done']);
    expect(run.server.failures).toEqual([]);
    expect(run.outcome.reason).toBe('completed');
    expect(ofType(run.events, 'compacted')).toHaveLength(2);
    expect(said(run.server.turns.at(-1))[0]).not.toContain('first');
  });

  test('counts the summary as a turn of its own, and every row adds up to the totals', async () => {
    const run = await fill([...full, SUMMARY, 'done']);
    const usage = JSON.parse(run.artifact('usage.json') ?? '{}') as { per_turn: Record<string, number>[] };
    expect(run.result['turns']).toBe(5);
    expect(usage).toMatchObject({ turns: 5, requests: 5 });
    expect(usage.per_turn.map(({ turn }) => turn)).toEqual([1, 2, 3, 4, 5]);
    const totals = numbers(run);
    const sum = (key: string): number => usage.per_turn.reduce((all, row) => all + (row[key] ?? 0), 0);
    expect(sum('input_tokens')).toBe(totals['total_input_tokens']);
    expect(sum('output_tokens')).toBe(totals['total_output_tokens']);
    expect(sum('cost_usd')).toBeCloseTo(totals['cost_usd'] ?? -1, 10);
    expect(totals['last_input_tokens']).toBe(usage.per_turn.at(-1)?.['input_tokens']);
  });

  test('asks for the summary without the output schema, whose form would replace it', async () => {
    const run = await fill([...full, SUMMARY, '{"sum": 3}'], { output: { schema: SCHEMA } });
    expect(run.server.failures).toEqual([]);
    expect(run.output_text).toBe('{"sum": 3}');
    const formats = run.server.turns.map(({ body }) => 'output_config' in body);
    expect(formats).toEqual([true, true, true, false, true]);
  });

  test('tells a later prompt again beside the first one, and keeps the answers', async () => {
    const replies = [read('a'), 'blue', read('b'), read('c'), SUMMARY, 'green'];
    const run = await fill(replies, { prompt: ['First question.', 'Second question.', 'Third question.'] });
    expect(run.outcome.reason).toBe('api_error'); // the script ends before the third answer
    const [, , , , , after] = run.server.turns;
    expect(said(after)[0]).toMatch(/First question\..*Second question\..*Read a, b and c/);
    expect(run.result['answers']).toEqual(['blue', 'green']);
  });
});

describe('a summary', () => {
  test('is taken from a reply that also calls tools, which are not run', async () => {
    const content = [
      { type: 'text', text: SUMMARY },
      { type: 'tool_use', name: 'read_file', input: { path: 'd' } },
    ];
    const run = await fill([...full, reply.message({ content }), 'done']);
    expect(run.outcome.reason).toBe('completed');
    expect(ofType(run.events, 'tool_start')).toHaveLength(3);
    expect(ofType(run.events, 'tool_end').at(-1)).toMatchObject({ status: 'refused' });
  });

  test('that is cut is asked for again with more room, and still runs no tool', async () => {
    const content = [
      { type: 'text', text: 'Read' },
      { type: 'tool_use', name: 'read_file', input: { path: 'd' } },
    ];
    const run = await fill(
      [
        ...full,
        reply.message({ content, stop_reason: 'max_tokens' }),
        reply.message({ content: [...content, { type: 'text', text: ' all' }] }),
        'done',
      ],
      {},
      { max_tokens: 300 },
    );
    expect(run.outcome.reason).toBe('completed');
    expect(run.server.turns.map(({ body }) => body['max_tokens'])).toEqual([300, 300, 300, 300, 600, 600]);
    expect(ofType(run.events, 'tool_start')).toHaveLength(3);
  });
});

describe('limits hold across a compaction', () => {
  test('max_turns: the summary and the turns before it count', async () => {
    const limits = { max_turns: 5, on_limit: 'stop' };
    const run = await fill([...full, SUMMARY, read('d'), 'never asked'], { limits });
    expect(run.outcome).toMatchObject({ reason: 'max_turns', used: 5 });
    expect(run.server.turns).toHaveLength(5);
  });

  test('max_turns with finalize: the conclusion comes after the summary', async () => {
    const run = await fill([...full, SUMMARY, 'concluded'], { limits: { max_turns: 5 } });
    expect(run.outcome.reason).toBe('completed');
    expect(run.result['limit_reached']).toMatchObject({ reason: 'max_turns' });
  });

  test('max_total_tokens: what was spent before the summary is still spent', async () => {
    const limits = { max_total_tokens: 10_000, on_limit: 'stop' };
    const run = await fill([...full, SUMMARY, read('d'), read('e'), read('f'), 'never asked'], { limits });
    expect(run.outcome).toMatchObject({ reason: 'max_total_tokens' });
    expect(ofType(run.events, 'compacted')).toHaveLength(1);
    expect(run.server.turns.length).toBeLessThan(8);
  });
});

describe('what cannot fit ends with context_exhausted', () => {
  const large = { context: [{ files: ['a', 'b', 'c', 'd', 'e'] }] };
  const unknown = { context_tokens: 1_000_000 };

  test.each([
    ['the first prompt is too long', ['never'], large, {}],
    [
      'one tool result is larger than the window',
      [reply.tools(NAMES.map((path) => ({ name: 'read_file', input: { path } })))],
      {},
      {},
    ],
    ['the window is smaller than the table says', [...full, read('d'), read('e')], {}, unknown],
    [
      'the summary itself comes back empty',
      [...full, reply.message({ content: [] }), reply.message({ content: [] })],
      {},
      {},
    ],
  ])('%s', async (_name, replies, task, model) => {
    const run = await fill(replies, task, model);
    expect({ code: run.exit_code, reason: run.outcome.reason }).toEqual({ code: 4, reason: 'context_exhausted' });
    expect(run.output_text).toBeNull();
  });
});
