import { describe, expect, test } from 'vitest';
import { reply } from '../helpers/messages-server/reply.ts';
import { blocksOf, messagesOf, resultsOf } from './requests.ts';
import { play } from './harness.ts';

const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const wrapped = { anyOf: [SCHEMA] };

describe('calls and their results', () => {
  test('B001: every call is answered in the next message, denied, unknown, malformed and timed out alike', async () => {
    const run = await play({
      task: { tools: { write_file: { paths: ['docs/**'] }, bash: { allow: ['sleep *'], timeout: '200ms' } } },
      replies: [
        reply.tools([
          { name: 'write_file', input: { path: 'src/a.ts', file_text: 'x' } },
          { name: 'no_such_tool', input: {} },
          { name: 'write_file', input: { path: 7 } },
          { name: 'bash', input: { command: 'sleep 30' } },
        ]),
        'done',
      ],
    });
    expect(run.code).toBe(0);
    const results = resultsOf(run.turns[1]);
    expect(results.map(({ is_error }) => is_error)).toEqual([true, true, true, true]);
    expect(results.map(({ text }) => text)).toEqual([
      expect.stringContaining('docs/**'),
      expect.stringContaining('There is no tool "no_such_tool"'),
      expect.stringContaining('path'),
      expect.stringContaining('timed out'),
    ]);
    expect(run.result.tool_calls).toEqual({ total: 4, denied: 1, failed: 2, timed_out: 1 });
  });

  test('B001: a call cut by a limit has its result too, with the reason', async () => {
    const run = await play({
      task: { tools: { read_file: {} }, limits: { max_turns: 2 } },
      replies: [reply.tool('read_file', { path: 'README.md' }), reply.tool('read_file', { path: 'README.md' })],
    });
    expect(run.code).toBe(4);
    const last = run.events.findLast((event) => event.type === 'tool_end');
    expect(last).toMatchObject({ is_error: true, status: 'refused' });
  });

  test('B003: results come first, a reminder behind them in the same message', async () => {
    const run = await play({
      task: { tools: { read_file: {} }, limits: { max_turns: 2 } },
      replies: [reply.tools([{ name: 'read_file', input: { path: 'README.md' } }]), 'what I know'],
    });
    expect(run.code).toBe(0);
    expect(run.result.limit_reached).toMatchObject({ reason: 'max_turns', limit: 2 });
    const last = messagesOf(run.turns[1]).at(-1);
    expect(blocksOf(last).map(({ type }) => type)).toEqual(['tool_result', 'text']);
    expect(blocksOf(last).at(-1)?.['text']).toContain('turn limit');
  });

  test('B003: the reminder of a schema comes behind the results of other calls', async () => {
    const run = await play({
      task: { tools: { read_file: {} }, output: { schema: wrapped } },
      replies: [
        reply.tools([
          { name: 'submit_result', input: { result: { a: 1 } } },
          { name: 'read_file', input: { path: 'README.md' } },
        ]),
        reply.tool('submit_result', { result: { a: 'x' } }),
      ],
    });
    expect(run.code).toBe(0);
    expect(resultsOf(run.turns[1])).toMatchObject([
      { is_error: true, text: expect.stringContaining('/a') as string },
      {},
    ]);
  });

  test('B007: parallel calls go back once each, in one assistant message', async () => {
    const call = (path: string) => ({ type: 'tool_use', name: 'read_file', input: { path } });
    const content = [{ type: 'text', text: 'Reading.' }, call('README.md'), call('b.md'), call('c.md')];
    const run = await play({
      task: { tools: { read_file: {} } },
      files: { 'b.md': 'b', 'c.md': 'c' },
      replies: [reply.message({ content }), 'done'],
    });
    const messages = messagesOf(run.turns[1]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    const ids = blocksOf(messages[1]).flatMap((block) => (block.type === 'tool_use' ? [block['id']] : []));
    expect(new Set(ids).size).toBe(3);
    expect(resultsOf(run.turns[1]).map(({ id }) => id)).toEqual(ids);
  });
});

test('B007: a reply that gives two calls one id is a failed attempt, for no request could answer it', async () => {
  const call = { type: 'tool_use', id: 'toolu_same', name: 'read_file', input: { path: 'README.md' } };
  const twice = reply.message({ content: [call, call], headers: { 'retry-after-ms': '1' } });
  const run = await play({
    task: { tools: { read_file: {} } },
    replies: [twice, reply.message({ content: [call] }), 'done'],
  });
  expect(run.code).toBe(0);
  expect(run.events.find((event) => event.type === 'attempt')?.message).toContain('two calls have the id toolu_same');
});

describe('what the model wrote', () => {
  test('B009: thinking goes back unchanged, in place, with its signature, empty text included', async () => {
    const content = [
      { type: 'thinking', thinking: 'First \u00e9.', signature: 'c2lnbmF0dXJlLW9uZQ==' },
      { type: 'text', text: 'Looking.' },
      { type: 'thinking', thinking: '', signature: 'c2lnbmF0dXJlLXR3bw==' },
      { type: 'redacted_thinking', data: 'ZW5jcnlwdGVkIGRhdGE=' },
      { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'README.md' } },
    ];
    const run = await play({ task: { tools: { read_file: {} } }, replies: [reply.message({ content }), 'done'] });
    expect(run.code).toBe(0);
    expect(blocksOf(messagesOf(run.turns[1])[1])).toEqual(content);
  });

  test('B011: empty and blank texts of the model are left out when its turn is sent back', async () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'empty.md' } };
    const content = [{ type: 'text', text: '' }, call, { type: 'text', text: ' \n' }];
    const run = await play({
      task: { tools: { read_file: {} } },
      files: { 'empty.md': '' },
      replies: [reply.message({ content }), 'done'],
    });
    expect(run.code).toBe(0);
    expect(blocksOf(messagesOf(run.turns[1])[1])).toEqual([call]);
  });

  test('B015: a refusal is code 7 with and without a schema, and its text stands in the transcript only', async () => {
    for (const task of [{}, { output: { schema: SCHEMA } }]) {
      const run = await play({ task, replies: [reply.text("I can't do that.", { stop_reason: 'refusal' })] });
      expect(run.code).toBe(7);
      expect(run.result).toMatchObject({ exit_reason: 'refused', output: null });
      expect(run.stdout).toBe('');
      expect(run.artifact('transcript.jsonl')).toContain("I can't do that.");
      expect(run.artifact('result.json')).not.toContain("I can't do that.");
    }
  });
});

describe('turns that lead nowhere', () => {
  test('B005: three cut turns in a row end the run, naming max_tokens and its value', async () => {
    const half = { type: 'tool_use', name: 'read_file', input_json: '{"path": "REA' };
    const run = await play({
      task: { tools: { read_file: {} } },
      model: { max_tokens: 1000 },
      replies: () => reply.message({ content: [half], stop_reason: 'max_tokens', usage: { output_tokens: 40 } }),
    });
    expect(run.code).toBe(3);
    expect(run.result.exit_reason).toBe('truncated');
    expect(run.result.message).toMatch(/3 turns in a row.*max_tokens 4000/);
    expect(run.turns.map(({ body }) => body['max_tokens'])).toEqual([1000, 2000, 4000]);
    expect(run.usage).toMatchObject({ turns: 3, total_input_tokens: 30, total_output_tokens: 120 });
  });

  test('B013: an empty reply is asked about once, then the run fails at once', async () => {
    const empty = reply.message({ content: [], stop_reason: 'end_turn' });
    const run = await play({ replies: [empty, empty] });
    expect(run.code).toBe(3);
    expect(run.result).toMatchObject({
      exit_reason: 'output_missing',
      message: expect.stringContaining('empty') as string,
    });
    expect(run.turns).toHaveLength(2);
    expect(run.result.duration_ms).toBeLessThan(5000);
  });

  test('B013: a reply with nothing but blank text or thinking is as empty', async () => {
    const blank = reply.message({ content: [{ type: 'text', text: ' \n ' }] });
    const run = await play({ replies: [blank, 'here it is'] });
    expect({ code: run.code, turns: run.turns.length }).toEqual({ code: 0, turns: 2 });
  });

  test('B017: what the output must be is said from the first turn, and refusing in words is bounded', async () => {
    const run = await play({
      task: { output: { schema: wrapped, repair_attempts: 2 } },
      replies: () => 'I will not call that.',
    });
    expect(run.code).toBe(3);
    expect(run.turns).toHaveLength(3);
    const [first] = run.turns;
    expect(JSON.stringify(first?.body['system'])).toContain('submit_result');
    expect(JSON.stringify(first?.body['tools'])).toContain('Hands over the final output');
  });

  test('B019: fifteen calls that look alike are work, and the run goes on to its end', async () => {
    const names = Array.from({ length: 15 }, (_, index) => `file${index}.md`);
    const run = await play({
      task: { tools: { read_file: {} } },
      files: Object.fromEntries(names.map((name) => [name, `${name}\n`])),
      replies: [...names.map((path) => reply.tool('read_file', { path })), 'all read'],
    });
    expect({ code: run.code, turns: run.turns.length }).toEqual({ code: 0, turns: 16 });
    expect(run.result.output).toBe('all read');
  });
});
