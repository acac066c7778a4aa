import { describe, expect, test } from 'vitest';
import { mergeBatchOptions } from '../../src/config/batch-options.ts';

test('without anything a batch is one worker, keeps going and begins anew', () => {
  expect(mergeBatchOptions({}, {})).toEqual({ workers: 1, continue: false, fail_fast: false });
});

test('a flag wins over its variable, for money the tightest wins', () => {
  const env = { AGENT_RUN_WORKERS: '2', AGENT_RUN_SHARD: '1/2', AGENT_RUN_FAIL_FAST: '1', AGENT_RUN_MAX_TOTAL_COST_USD: '1' }; // prettier-ignore
  const flags = { workers: '4', 'max-total-cost-usd': '3', continue: true, rows: 'r.jsonl' };
  expect(mergeBatchOptions(flags, env)).toEqual({
    workers: 4,
    shard: { index: 1, count: 2 },
    rows: 'r.jsonl',
    continue: true,
    fail_fast: true,
    max_total_cost_usd: 1,
  });
});

describe('a value of the wrong form names where it stands', () => {
  test.each([
    [{ workers: '0' }, {}, '--workers: found "0"'],
    [{ workers: '1000' }, {}, '--workers: found 1000, expected at most 256'],
    [{ shard: '0/3' }, {}, '--shard: found "0/3"'],
    [{ shard: '4/3' }, {}, '--shard: found "4/3", expected I/N with I from 1 to N'],
    [{ shard: '1' }, {}, '--shard: found "1"'],
    [{}, { AGENT_RUN_SHARD: '1/0' }, 'AGENT_RUN_SHARD: found "1/0"'],
    [{ 'max-total-cost-usd': '-1' }, {}, '--max-total-cost-usd: found "-1"'],
  ])('%j %j', (flags, env, message) => {
    expect(() => mergeBatchOptions(flags, env)).toThrow(message);
  });
});
