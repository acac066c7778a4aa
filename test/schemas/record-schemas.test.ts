import { describe, expect, test } from 'vitest';
import type { ScriptConfig } from '../../src/core/config.ts';
import { EXIT_REASONS } from '../../src/core/outcome.ts';
import { readSchema, schemaCheck } from './schema-check.ts';
import { SAMPLE_RUNNER, SAMPLE_TASK } from './sample-events.ts';

const usage = {
  total_input_tokens: 10, total_output_tokens: 5, last_input_tokens: 10, total_cache_creation_input_tokens: 0, total_cache_read_input_tokens: 0,
  total_thinking_tokens: 0, estimated: false, requests: 1, retries: 0, turns: 1, cost_usd: null, prices_as_of: null, duration_ms: 5,
  api_duration_ms: 3, tool_duration_ms: 0, models: {}, tools: { bash: { calls: 1, denied: 0, failed: 0, timed_out: 0, duration_ms: 1, bytes: 2 } },
}; // prettier-ignore

const result = {
  schema_version: 1, run_id: 'r', task: { name: 't', file: '-', sha256: 'x', ref: null }, status: 'success', exit_reason: 'completed', exit_code: 0,
  message: 'm', output: { a: 1 }, answers: [], output_errors: [], limit_reached: null, limits: SAMPLE_TASK.limits, usage, turns: 1,
  tool_calls: { total: 1, denied: 0, failed: 0, timed_out: 0 }, denials: [{ tool: 'bash', tool_use_id: 'i', rule: null, reason: 'r', input_sha256: 's' }],
  warnings: [], verify: [], gate: { ok: true, issues: [] }, context: [], model: 'm', provider: 'script', git: null, resumed: false,
  started_at: '2026-11-30T12:00:00.000Z', finished_at: '2026-11-30T12:00:01.000Z', duration_ms: 1000, artifacts: { result: 'result.json' }, runner: SAMPLE_RUNNER,
}; // prettier-ignore

describe('the result schema', async () => {
  const check = await schemaCheck('result');

  test('has every field of the contract', () => {
    const fields =
      'schema_version run_id task status exit_reason exit_code message output answers output_errors limit_reached limits usage turns tool_calls denials warnings verify gate context model provider git resumed started_at finished_at duration_ms artifacts runner'; // prettier-ignore
    expect(readSchema('result')['required']).toEqual(expect.arrayContaining(fields.split(' ')));
    expect(check(result)).toEqual([]);
    expect(check({ ...result, output: null, limit_reached: { reason: 'max_cost', limit: 0.5, used: 0.51 } })).toEqual(
      [],
    );
  });

  test('knows every exit reason', () => {
    for (const exit_reason of EXIT_REASONS) {
      const isSuccess = exit_reason === 'completed' || exit_reason === 'skipped';
      const cancelled = exit_reason === 'cancelled';
      const status = isSuccess ? 'success' : cancelled ? 'cancelled' : 'failure';
      expect(check({ ...result, exit_reason, status, exit_code: isSuccess ? 0 : cancelled ? 143 : 4 })).toEqual([]);
    }
  });

  test('refuses success without code 0, and code 0 without success', () => {
    expect(check({ ...result, exit_code: 3 })).not.toEqual([]);
    expect(check({ ...result, status: 'failure' })).not.toEqual([]);
    expect(check({ ...result, exit_reason: 'output_invalid' })).not.toEqual([]);
    expect(check({ ...result, exit_reason: 'cancelled', status: 'failure', exit_code: 143 })).not.toEqual([]);
  });
});

test('the usage schema has every field of the contract, and unknown cost is null', async () => {
  const check = await schemaCheck('usage');
  const fields =
    'total_input_tokens total_output_tokens last_input_tokens total_cache_creation_input_tokens total_cache_read_input_tokens total_thinking_tokens requests retries turns cost_usd prices_as_of duration_ms api_duration_ms tool_duration_ms models tools per_turn'; // prettier-ignore
  expect(readSchema('usage')['required']).toEqual(expect.arrayContaining(fields.split(' ')));
  expect(check({ schema_version: 1, run_id: 'r', ...usage, per_turn: [] })).toEqual([]);
  expect(check({ schema_version: 1, run_id: 'r', ...usage, per_turn: [], cost_usd: 'unknown' })).not.toEqual([]);
});

test('the script schema takes what a script may hold', async () => {
  const check = await schemaCheck('script');
  const script: ScriptConfig = {
    turns: [
      { text: 't', thinking: 'h', tool_use: [{ name: 'bash', input: { command: 'ls' } }, { name: 'x', input_json: '{', id: 'i' }], stop_reason: 'tool_use', usage: { input_tokens: 10 }, expect: 'a', delay_ms: 5 },
      { error: { status: 529, type: 'overloaded_error', message: 'm', headers: { 'retry-after': '1' } }, expect: ['a', 'b'] },
    ],
  }; // prettier-ignore
  expect(check(script)).toEqual([]);
  expect(check({ turns: [{ texts: 'x' }] })[0]).toContain('did you mean "text"?');
});

test('the report schema takes runs and their sums', async () => {
  const check = await schemaCheck('report');
  const finding = { path: 'src/a.ts', line: 3, end_line: null, level: 'error', title: null, message: 'm' };
  const run = {
    run_dir: 'out', run_id: 'r', task: 't', status: 'success', exit_reason: 'completed', exit_code: 0, message: 'm', model: 'm', turns: 1, total_input_tokens: 1,
    total_output_tokens: 1, cost_usd: null, duration_ms: 1, tool_calls: 0, denials: 0, warnings: [], output: 'x', findings: [finding],
  }; // prettier-ignore
  const totals = { runs: 1, success: 1, failure: 0, cancelled: 0, exit_code: 0, turns: 1, total_input_tokens: 1, total_output_tokens: 1, cost_usd: null, duration_ms: 1, findings: 1 }; // prettier-ignore
  expect(check({ schema_version: 1, runs: [run], totals })).toEqual([]);
  expect(check({ schema_version: 1, runs: [{ ...run, cost_usd: -1 }], totals })).not.toEqual([]);
  const not_started = [{ task: 'u', file: 'u.json', reason: 'fail_fast', message: 'm' }];
  const batch = { shard: { index: 1, count: 3 }, not_started, problems: ['m'], started_at: '2026-11-30T10:00:00.000Z' };
  expect(check({ schema_version: 1, runs: [{ ...run, file: 't.json', carried: true }], totals, ...batch })).toEqual([]);
});
