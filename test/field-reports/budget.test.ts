import { describe, expect, test } from 'vitest';
import { reply } from '../helpers/messages-server/reply.ts';
import { play } from './harness.ts';
import type { FieldRun } from './harness.ts';

const SCHEMA = { anyOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }] };
const read = reply.tool('read_file', { path: 'README.md' });
const tools = { read_file: {} };

/** The line of stderr that ends a run. */
function lastLine({ stderr }: FieldRun): string {
  return stderr.trimEnd().split('\n').at(-1) ?? '';
}

describe('a limit', () => {
  test('B021: ends the run with one line that names it, its value and what was used', async () => {
    const run = await play({ task: { tools, limits: { max_turns: 2, on_limit: 'stop' } }, replies: () => read });
    expect(run.code).toBe(4);
    const named = /turn limit reached \(max_turns\): limit 2, used 2/;
    expect(lastLine(run)).toMatch(named);
    expect(run.result.message).toMatch(named);
    expect(run.artifact('summary.md')).toContain('max\\_turns');
    expect(run.result.limit_reached).toEqual({ reason: 'max_turns', limit: 2, used: 2 });
  });

  test('B023: passed while an output is asked for again leaves one result and ends at once', async () => {
    const run = await play({
      task: { output: { schema: SCHEMA }, limits: { max_total_tokens: 1000, on_limit: 'stop' } },
      replies: () =>
        reply.tool('submit_result', { result: { a: 1 } }, { usage: { input_tokens: 500, output_tokens: 90 } }),
    });
    expect(run.code).toBe(4);
    expect(run.result).toMatchObject({ exit_reason: 'max_total_tokens', limit_reached: { limit: 1000 } });
    expect(run.turns).toHaveLength(1);
  });

  test('B023: passed by a lost attempt ends the run before the next one', async () => {
    const cut = reply.cut({ start_usage: { input_tokens: 985 } });
    const run = await play({
      task: { tools, limits: { max_input_tokens: 1000, on_limit: 'stop' } },
      replies: [read, cut, 'never'],
    });
    expect(run.code).toBe(4);
    expect(run.result.exit_reason).toBe('max_input_tokens');
    expect(run.turns).toHaveLength(2);
  });

  test('B023: passed by the conclusion itself is an ending like any other', async () => {
    const run = await play({ task: { tools, limits: { max_turns: 2 } }, replies: () => read });
    expect(run.result).toMatchObject({ exit_reason: 'max_turns', exit_code: 4, turns: 2 });
  });

  test('B031: is printed at the start and stored, given or default, the same on every machine', async () => {
    const run = await play({ replies: ['done'], env: { CI: 'true' } });
    expect(run.result.limits).toEqual({
      max_turns: 30,
      max_input_tokens: null,
      max_output_tokens: null,
      max_total_tokens: 2_000_000,
      max_cost_usd: null,
      max_tool_calls: 200,
      max_denials: 10,
      timeout_ms: 1_200_000,
      tool_timeout_ms: 120_000,
      idle_timeout_ms: 120_000,
      max_retries: 8,
      on_limit: 'finalize',
    });
    expect(run.stderr.match(/limits: max_turns 30, .*max_total_tokens 2000000.*timeout 20m/g)).toHaveLength(1);
  });
});

describe('money', () => {
  const limits = { max_cost_usd: 1 };

  test('B025: is never counted with the price of another model', async () => {
    const model = { id: 'deepseek-chat' };
    const server = { models: { 'deepseek-chat': {} } };
    const run = await play({ model, server, replies: ['done'] });
    expect(run.code).toBe(0);
    expect(run.usage).toMatchObject({ cost_usd: null, prices_as_of: null });
    const limited = await play({ model, server, task: { limits }, replies: ['never'] });
    expect(limited.result).toMatchObject({ exit_reason: 'config_error', exit_code: 2 });
    expect(limited.stderr).toContain('deepseek-chat');
  });

  test('B025: comes from the dated table for exactly the model, or from the task', async () => {
    const usage = { input_tokens: 1_000_000, output_tokens: 100_000 };
    const known = await play({ replies: [reply.text('done', { usage })] });
    expect(known.usage.cost_usd).toBeGreaterThan(0);
    expect(known.usage.prices_as_of).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    const given = await play({ model: { prices: { input: 1, output: 20 } }, replies: [reply.text('done', { usage })] });
    expect(given.usage).toMatchObject({ cost_usd: 3, prices_as_of: null });
  });
});

describe('time', () => {
  test('B027: an attempt that hangs costs its idle timeout, and the next one answers', async () => {
    const run = await play({
      task: { limits: { idle_timeout: '300ms', timeout: '20s' } },
      replies: [reply.stall({ after: 'message_start' }), 'second'],
    });
    expect({ code: run.code, output: run.result.output }).toEqual({ code: 0, output: 'second' });
    expect(run.usage).toMatchObject({ requests: 2, retries: 1 });
  });

  test('B027: the wall clock wins over attempts and over waits between them', async () => {
    for (const hang of [reply.stall({ after: 'head' }), reply.error(529, 'overloaded_error')]) {
      const run = await play({
        task: { limits: { idle_timeout: '30s', timeout: '700ms', on_limit: 'stop' } },
        replies: () => hang,
      });
      expect(run.result).toMatchObject({ exit_reason: 'timeout', exit_code: 4 });
      expect(run.result.duration_ms).toBeLessThan(2500);
    }
  });

  test('B029: an overflow is code 4 in every output mode, on the first prompt and later', async () => {
    const tooLong = reply.error(400, 'invalid_request_error', {
      message: 'prompt is too long: 210000 tokens > 200000 maximum',
    });
    for (const format of ['text', 'json', 'stream-json']) {
      for (const replies of [[tooLong], [read, tooLong]]) {
        const run = await play({ task: { tools }, replies, flags: ['--format', format] });
        expect(run.result).toMatchObject({ exit_reason: 'context_exhausted', exit_code: 4 });
        const said = run.stdout.split('\n').filter((line) => line.includes('"exit_code":4'));
        expect(said.map((line): unknown => JSON.parse(line))).toHaveLength(format === 'text' ? 0 : 1);
      }
    }
  });
});
