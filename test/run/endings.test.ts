import { describe, expect, test } from 'vitest';
import { exitCode } from '../../src/core/outcome.ts';
import { calls, ofType, tell } from './harness.ts';
import type { ScriptTurn } from '../../src/core/config.ts';
import type { Story } from './harness.ts';

const SCHEMA = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false };
const reads: ScriptTurn = calls(['read_file', { path: 'README.md' }]);
const endless = (count: number): ScriptTurn[] => Array.from({ length: count }, () => reads);
const tools = { read_file: {} };
const text = (words: string): ScriptTurn => ({ text: words });

/** Each row: the ending, its code, and the story that ends so. */
const ENDINGS: [reason: string, code: number, story: Story][] = [
  ['config_error', 2, { task: { context: [{ git: 'diff' }] } }],
  ['sandbox_unavailable', 5, { task: { verify: [{ run: ['true'] }] }, env: { AGENT_RUN_UNTRUSTED: '1' } }],
  ['completed', 0, { turns: [text('done')] }],
  ['skipped', 0, { task: { context: [{ files: ['none/**'], when_empty: 'skip' }] } }],
  [
    'output_invalid',
    3,
    { task: { output: { schema: SCHEMA, repair_attempts: 1 } }, turns: [text('{"a":"x"}'), text('{"b":1}')] },
  ],
  [
    'output_missing',
    3,
    { task: { output: { schema: SCHEMA } }, turns: [{ text: '', stop_reason: 'end_turn' }, { text: '' }] },
  ],
  ['truncated', 3, { turns: Array.from({ length: 3 }, () => ({ text: 'half', stop_reason: 'max_tokens' })) }],
  ['max_turns', 4, { task: { tools, limits: { max_turns: 2, on_limit: 'stop' } }, turns: endless(3) }],
  ['max_input_tokens', 4, { task: { tools, limits: { max_input_tokens: 25, on_limit: 'stop' } }, turns: endless(3) }],
  ['max_output_tokens', 4, { task: { tools, limits: { max_output_tokens: 10, on_limit: 'stop' } }, turns: endless(3) }],
  ['max_total_tokens', 4, { task: { tools, limits: { max_total_tokens: 30, on_limit: 'stop' } }, turns: endless(3) }],
  ['max_cost', 4, { task: { tools, limits: { max_cost_usd: 0.0001, on_limit: 'stop' } }, model: priced(endless(3)) }],
  ['max_tool_calls', 4, { task: { tools, limits: { max_tool_calls: 1, on_limit: 'stop' } }, turns: endless(3) }],
  [
    'timeout',
    4,
    { task: { limits: { timeout: '300ms', on_limit: 'stop' } }, turns: [{ text: 'late', delay_ms: 5000 }] },
  ],
  ['context_exhausted', 4, { turns: [{ text: 'half', stop_reason: 'model_context_window_exceeded' }] }],
  [
    'max_denials',
    5,
    { task: { limits: { max_denials: 1 }, tools: { write_file: { paths: ['docs/**'] } } }, turns: endlessWrites() },
  ],
  ['denied', 5, { task: { tools: { write_file: { paths: ['docs/**'], on_denied: 'fail' } } }, turns: endlessWrites() }],
  ['api_error', 6, { turns: [{ error: { status: 400, type: 'invalid_request_error' } }] }],
  ['auth_error', 6, { turns: [{ error: { status: 401, type: 'authentication_error' } }] }],
  [
    'rate_limited',
    6,
    { task: { limits: { max_retries: 0 } }, turns: [{ error: { status: 429, type: 'rate_limit_error' } }] },
  ],
  ['refused', 7, { turns: [{ text: 'I cannot', stop_reason: 'refusal' }] }],
  ['verify_failed', 8, { task: { verify: [{ run: ['false'], attempts: 1 }] }, turns: [text('done')] }],
  [
    'gate_failed',
    9,
    { task: { output: { schema: SCHEMA, gate: { properties: { a: { maximum: 0 } } } } }, turns: [text('{"a":1}')] },
  ],
];

/** Ten input and five output tokens a turn cost 0.00007 USD. */
function priced(turns: ScriptTurn[]): unknown {
  const prices = { input: 2, output: 10, cache_write: 2.5, cache_read: 2 };
  return { provider: 'script', id: 'script', script: { turns }, prices };
}

function endlessWrites(): ScriptTurn[] {
  return Array.from({ length: 4 }, () => calls(['write_file', { path: 'src/a.ts', file_text: 'x' }]));
}

describe.each(ENDINGS)('a run that ends with %s', (reason, code, story) => {
  test(`has code ${code}, one result, its reason everywhere, and the transcript’s last line`, async () => {
    const told = await tell(story);
    expect(told.outcome.reason).toBe(reason);
    expect(told.exit_code).toBe(code);
    expect(exitCode(told.outcome)).toBe(code);
    const result = JSON.parse(told.artifact('result.json') ?? '') as Record<string, unknown>;
    expect(result).toMatchObject({ exit_reason: reason, exit_code: code, status: code === 0 ? 'success' : 'failure' });
    expect(told.events.at(-1)).toMatchObject({ type: 'run_end', exit_code: code, outcome: { reason } });
    expect(ofType(told.events, 'run_end')).toHaveLength(1);
    const usage = JSON.parse(told.artifact('usage.json') ?? '') as { duration_ms: number };
    expect(usage.duration_ms).toBeLessThan(60_000);
    expect(told.artifact('summary.md')).toBeDefined();
  });
});

describe('the output file', () => {
  test.each(['completed', 'verify_failed', 'gate_failed'])('stands there after %s', async (reason) => {
    const [, , story] = ENDINGS.find(([name]) => name === reason) ?? ENDINGS[0] ?? ['', 0, {}];
    const told = await tell(story);
    expect(told.artifact('output.json') ?? told.artifact('output.md')).toBeDefined();
    expect(told.output_text).not.toBeNull();
  });

  test.each(['output_invalid', 'refused', 'truncated', 'max_turns', 'api_error'])(
    'is absent after %s',
    async (reason) => {
      const [, , story] = ENDINGS.find(([name]) => name === reason) ?? ENDINGS[0] ?? ['', 0, {}];
      const told = await tell(story);
      expect(told.artifact('output.json')).toBeUndefined();
      expect(told.artifact('output.md')).toBeUndefined();
      expect(told.output_text).toBeNull();
    },
  );
});

describe('limits in a run', () => {
  test('max_turns is never passed, whatever the model does', async () => {
    for (const on_limit of ['stop', 'finalize', 'finalize_fail']) {
      const told = await tell({ task: { tools, limits: { max_turns: 3, on_limit } }, turns: endless(9) });
      expect(ofType(told.events, 'model_reply')).toHaveLength(3);
      expect(told.outcome).toMatchObject({ reason: 'max_turns', limit: 3 });
    }
  });

  test('finalize turns a limit into an answer that names the limit', async () => {
    const told = await tell({ task: { tools, limits: { max_turns: 2 } }, turns: [reads, text('what I know')] });
    expect(told.outcome).toEqual({ reason: 'completed', limit_reached: { reason: 'max_turns', limit: 2, used: 1 } });
    expect(told.result).toMatchObject({ limit_reached: { reason: 'max_turns' }, output: 'what I know' });
    expect(told.result['warnings']).toEqual([expect.stringContaining('concluded early')]);
  });

  test('with max_turns 1 the only turn is the conclusion, and says so in the first request', async () => {
    const told = await tell({ task: { limits: { max_turns: 1 } }, turns: [text('short')] });
    expect(told.exit_code).toBe(0);
    expect(ofType(told.events, 'turn_start')).toMatchObject([{ concluding: true }]);
    expect(ofType(told.events, 'user_message').map((event) => event.reason)).toEqual(['prompt', 'limit_reminder']);
  });

  test('the time kept back is enough for a conclusion after a slow turn', async () => {
    const slow = { text: 'too late', delay_ms: 60_000 };
    const told = await tell({ task: { limits: { timeout: '2s' } }, turns: [slow, text('in time')] });
    expect(told.outcome).toMatchObject({ reason: 'completed', limit_reached: { reason: 'timeout' } });
  });

  test('a cost limit without a known price is a config error before any request', async () => {
    const told = await tell({ task: { limits: { max_cost_usd: 1 } }, turns: [text('x')] });
    expect(told.outcome).toMatchObject({ reason: 'config_error', detail: expect.stringContaining('model.prices') });
    expect(ofType(told.events, 'turn_start')).toEqual([]);
  });
});
