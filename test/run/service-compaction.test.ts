import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { resume } from '../../src/run/resume.ts';
import { messagesOf } from '../helpers/messages-server/check-messages.ts';
import { COMPACT_BETA } from '../helpers/messages-server/check-compaction.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { fill, full, KEY, NAMES, read, said, WINDOW } from './fill.ts';
import { ofType, tell, told } from './harness.ts';
import type { RecordedRequest, ReplyLike } from '../helpers/messages-server/types.ts';

const CLAUDE = { claude_api: true };
const summary = reply.summary('Read a, b and c.', { usage: { output_tokens: 40 } });
const SCHEMA = {
  type: 'object',
  properties: { sum: { type: 'number' } },
  required: ['sum'],
  additionalProperties: false,
};

function kinds({ body, headers }: RecordedRequest): string {
  const first = messagesOf(body)[0]?.content[0]?.['type'];
  return [
    ...('compaction' in body ? ['asks'] : []),
    ...(first === 'compaction' ? ['carries'] : []),
    ...(headers['anthropic-beta'] === COMPACT_BETA ? ['beta'] : []),
  ].join(' ');
}

describe('where the service sums up a history by itself', () => {
  test('its block stands first from then on, named in the header of every request that carries it', async () => {
    const run = await fill([...full, summary, read('d'), 'all read'], {}, CLAUDE);
    expect(run.server.failures).toEqual([]);
    expect(run.output_text).toBe('all read');
    expect(run.server.turns.map(kinds)).toEqual(['', '', '', 'asks beta', 'carries beta', 'carries beta']);
    expect(said(run.server.turns[4])).toHaveLength(2);
    expect(said(run.server.turns[4])[1]).toMatch(/Do it\..*replaced by the summary above/);
    expect(said(run.server.turns[3]).at(-1)).not.toContain('context window');
  });

  test('the summary is a turn, and what it cost stands in the usage', async () => {
    const run = await fill([...full, summary, 'done'], {}, CLAUDE);
    const usage = JSON.parse(run.artifact('usage.json') ?? '{}') as {
      per_turn: Record<string, number>[];
      total_input_tokens: number;
      cost_usd: number;
    };
    expect(usage).toMatchObject({ turns: 5, requests: 5 });
    expect(usage.per_turn[3]).toMatchObject({ turn: 4, stop_reason: 'compaction', output_tokens: 40 });
    expect(usage.per_turn[3]?.['input_tokens']).toBeGreaterThan(2900);
    const sum = (key: string): number => usage.per_turn.reduce((all, row) => all + (row[key] ?? 0), 0);
    expect(sum('input_tokens')).toBe(usage.total_input_tokens);
    expect(sum('cost_usd')).toBeCloseTo(usage.cost_usd, 10);
  });

  test('a second summary replaces the first, and no output format is asked for with either', async () => {
    const replies = [...full, summary, read('d'), read('e'), read('f'), reply.summary('All.'), '{"sum": 6}'];
    const run = await fill(replies, { output: { schema: SCHEMA } }, CLAUDE);
    expect(run.server.failures).toEqual([]);
    expect(run.output_text).toBe('{"sum": 6}');
    const last = said(run.server.turns.at(-1));
    expect(last[0]).toContain('All.');
    expect(last.join()).not.toContain('Read a, b and c.');
  });

  test('a moment without capacity is waited for', async () => {
    const busy = reply.error(529, 'overloaded_error', {
      error_code: 'compaction_unavailable',
      headers: { 'retry-after-ms': '1' },
    });
    const run = await fill([...full, busy, summary, 'done'], {}, CLAUDE);
    expect(run.output_text).toBe('done');
    expect(run.result['usage']).toMatchObject({ turns: 5, requests: 6, retries: 1 });
  });
});

describe('the model sums up in words instead', () => {
  const refused = reply.error(400, 'invalid_request_error', { error_code: 'compaction_too_many_tool_references' });
  const cases: [string, ReplyLike][] = [
    ['the service refuses', refused],
    ['the summary was refused', reply.message({ content: [], stop_reason: 'refusal' })],
    ['the summary was cut', reply.message({ content: [], stop_reason: 'max_tokens' })],
    ['the model wanted to call a tool', reply.message({ content: [], stop_reason: 'tool_use' })],
    ['the summary has no text', reply.summary(null)],
  ];

  test.each(cases)('when %s, and the service is not asked again', async (_name, instead) => {
    const replies = [...full, instead, 'in words', read('d'), read('e'), read('f'), 'again in words', 'done'];
    const run = await fill(replies, {}, CLAUDE);
    expect(run.server.failures).toEqual([]);
    expect(run.outcome.reason).toBe('completed');
    expect(run.output_text).toBe('done');
    expect(run.server.turns.filter(({ body }) => 'compaction' in body)).toHaveLength(1);
    expect(ofType(run.events, 'compacted')).toHaveLength(2);
  });

  test.each([
    ['the address is not known to be the service’s own', {}],
    ['a fallback would not take the block', { ...CLAUDE, fallback: [{ id: 'claude-haiku-4-5', claude_api: true }] }],
  ])('when %s', async (_name, model) => {
    const run = await fill([...full, 'in words', 'done'], {}, model);
    expect(run.output_text).toBe('done');
    expect(run.server.turns.map(kinds)).toEqual(['', '', '', '', '']);
  });
});

test('the window of a model that no table knows is the one the service tells', async () => {
  const id = 'claude-next-9';
  const models = { [id]: { max_input_tokens: WINDOW, max_tokens: 500 } };
  const server = await startMessagesServer({
    replies: [...full, 'in words', 'done'],
    conversations: 'by_first_message',
    simulate_cache: true,
    models,
  });
  onTestFinished(() => server.close());
  const model = { provider: 'anthropic', id, base_url: server.url, ...CLAUDE };
  const files = Object.fromEntries(NAMES.map((name) => [name, name.repeat(3600)]));
  const run = await tell({ task: { tools: { read_file: {} } }, model, files, env: { ANTHROPIC_API_KEY: KEY } });
  expect(run.output_text).toBe('done');
  expect(server.turns.map(({ body }) => body['max_tokens'])).toEqual([500, 500, 500, 500, 500]);
  expect((await replay({ run_dir: run.run_dir })).divergence).toBeNull();
});

test('a run that is stopped anywhere around it goes on to the same end', { timeout: 60_000 }, async () => {
  const answer = ({ body }: RecordedRequest): ReplyLike => {
    if ('compaction' in body) return summary;
    const blocks = messagesOf(body).flatMap(({ content }) => content);
    const results = blocks.filter(({ type }) => type === 'tool_result').length;
    const before = blocks[0]?.['type'] === 'compaction' ? 3 : 0;
    return before + results > 3 ? 'done' : read(NAMES[before + results] ?? '');
  };
  const whole = await fill(answer, {}, CLAUDE);
  expect(whole.output_text).toBe('done');
  const file = join(whole.run_dir, 'transcript.jsonl');
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const request = { run_dir: whole.run_dir, limits: {}, allow_changed: false, subscribers: () => [] };
  for (let kept = 1; kept < lines.length; kept += 1) {
    writeFileSync(file, `${lines.slice(0, kept).join('\n')}\n`);
    whole.server.newConversation();
    const resumed = told(await resume({ ...request, env: { ANTHROPIC_API_KEY: KEY } }), whole.workspace);
    expect(whole.server.failures, `after ${kept} events`).toEqual([]);
    expect(resumed.outcome, `after ${kept} events`).toEqual({ reason: 'completed' });
    expect(ofType(resumed.events, 'compacted'), `after ${kept} events`).toHaveLength(1);
    expect(resumed.result['turns']).toBe(6);
  }
});
