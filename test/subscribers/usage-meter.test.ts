import { expect, test } from 'vitest';
import { createUsageMeter } from '../../src/subscribers/usage-meter.ts';
import {
  RUN_ID,
  attempt,
  reply,
  replyWithCalls,
  runStart,
  stamp,
  stateOf,
  toolEnd,
  turnStart,
  usage,
} from '../helpers/events.ts';
import { schemaErrors } from '../helpers/schemas.ts';
import type { EventBody, RunEvent } from '../../src/core/events.ts';
import type { TokenCounts, UsageReport } from '../../src/subscribers/usage-report.ts';

function meterOf(events: readonly RunEvent[], prices_as_of: string | null = null): UsageReport {
  const meter = createUsageMeter();
  for (const event of events) meter.onEvent(event);
  const report = meter.report(prices_as_of);
  expect(schemaErrors('usage', report)).toEqual([]);
  return report;
}

function report(...bodies: EventBody[]): UsageReport {
  return meterOf(stamp([runStart(), ...bodies]));
}

function sum(
  rows: readonly TokenCounts[],
  key: 'input_tokens' | 'output_tokens' | 'thinking_tokens' | 'cost_usd',
): number {
  return rows.reduce((total, row) => total + (row[key] ?? 0), 0);
}

const CACHED = usage({ cache_creation_input_tokens: 50, cache_read_input_tokens: 1000, thinking_tokens: 7 });

test('a report names its run, its version and the day of its prices', () => {
  const facts = { schema_version: 1, run_id: RUN_ID, prices_as_of: '2026-11-01' };
  expect(meterOf(stamp([runStart()]), '2026-11-01')).toMatchObject(facts);
});

test('a run that asked nothing used nothing, at a known cost of 0', () => {
  expect(report()).toMatchObject({
    requests: 0,
    turns: 0,
    total_input_tokens: 0,
    cost_usd: 0,
    per_turn: [],
    models: {},
  });
});

test('B033: a reply with many blocks is counted once', () => {
  const many = replyWithCalls('bash', ['{}', '{}', '{}'], { usage: CACHED });
  const counted = report(turnStart(1), many);
  expect(counted).toMatchObject({ total_input_tokens: 1150, total_output_tokens: 20, requests: 1, turns: 1 });
  expect(counted.per_turn).toMatchObject([{ turn: 1, calls: 3, input_tokens: 1150 }]);
});

test('the whole prompt counts as input, cache writes and reads included', () => {
  const second = reply({ turn: 2, usage: usage({ input_tokens: 3, cache_read_input_tokens: 1200 }) });
  expect(report(turnStart(1), reply({ usage: CACHED }), turnStart(2), second)).toMatchObject({
    total_input_tokens: 1150 + 1203,
    last_input_tokens: 1203,
    total_cache_creation_input_tokens: 50,
    total_cache_read_input_tokens: 2200,
    total_thinking_tokens: 7,
  });
});

test('B033, B035: rows add up exactly to the totals, with what broken streams were billed', () => {
  const lost = attempt({ usage: usage({ input_tokens: 11, output_tokens: 5, estimated: true }), cost_usd: 0.125 });
  const { per_turn, ...total } = report(
    turnStart(1),
    lost,
    reply({ usage: CACHED }),
    turnStart(2),
    attempt({ turn: 2 }),
    reply({ turn: 2, cost_usd: 0.25 }),
  );
  expect(sum(per_turn, 'input_tokens')).toBe(total.total_input_tokens);
  expect(sum(per_turn, 'output_tokens')).toBe(total.total_output_tokens);
  expect(sum(per_turn, 'thinking_tokens')).toBe(total.total_thinking_tokens);
  expect(sum(per_turn, 'cost_usd')).toBe(total.cost_usd);
  expect(total).toMatchObject({ requests: 4, retries: 2, turns: 2, cost_usd: 0.875, estimated: true });
  expect(per_turn.map((row) => row.estimated)).toEqual([true, false]);
  expect(sum(Object.values(total.models), 'input_tokens')).toBe(total.total_input_tokens);
});

test('each lost attempt keeps its status, request id, wait and what it was billed', () => {
  const lost = attempt({ request_id: 'req_0', usage: usage({ output_tokens: 1 }), cost_usd: 0.1 });
  const { per_turn } = report(turnStart(1), lost, attempt({ attempt: 2, wait_ms: 4000 }), reply());
  const common = { max_attempts: 9, model: 'claude-sonnet-5-5', status: 529, error_type: 'overloaded_error' };
  expect(per_turn[0]?.attempts).toMatchObject([
    { ...common, attempt: 1, request_id: 'req_0', wait_ms: 2000, input_tokens: 100, output_tokens: 1, cost_usd: 0.1 },
    { ...common, attempt: 2, request_id: null, wait_ms: 4000, input_tokens: 0, cost_usd: 0 },
  ]);
});

test('one unknown cost makes the total unknown, never smaller', () => {
  const { cost_usd, models, per_turn } = report(
    turnStart(1),
    reply(),
    turnStart(2),
    reply({ turn: 2, model: 'other', cost_usd: null }),
  );
  expect(cost_usd).toBeNull();
  expect(models).toMatchObject({ 'claude-sonnet-5-5': { cost_usd: 0.5 }, other: { cost_usd: null } });
  expect(per_turn.map((row) => row.cost_usd)).toEqual([0.5, null]);
});

test('models are counted by who answered, with the requests they failed', () => {
  const { models } = report(turnStart(1), attempt(), reply({ model: 'claude-haiku-5-5' }));
  expect(models).toMatchObject({
    'claude-sonnet-5-5': { requests: 1, turns: 0, input_tokens: 0 },
    'claude-haiku-5-5': { requests: 1, turns: 1, input_tokens: 100 },
  });
});

test('calls are counted by tool and ending; a name the model made up is no key of the file', () => {
  const { tools, tool_duration_ms } = report(
    turnStart(1),
    replyWithCalls('bash', ['{}']),
    toolEnd({ bytes: 10 }),
    toolEnd({ status: 'error', is_error: true, bytes: 5 }),
    toolEnd({ status: 'denied', is_error: true, duration_ms: 0 }),
    toolEnd({ status: 'timed_out', is_error: true }),
    toolEnd({ status: 'unknown', is_error: true, name: '__proto__', duration_ms: 0 }),
  );
  const none = { denied: 0, timed_out: 0 };
  expect(tools['bash']).toEqual({ calls: 4, denied: 1, failed: 1, timed_out: 1, duration_ms: 750, bytes: 19 });
  expect(tools['(unknown)']).toEqual({ ...none, calls: 1, failed: 1, duration_ms: 0, bytes: 2 });
  expect(Object.keys(tools)).toEqual(['bash', '(unknown)']);
  expect(tool_duration_ms).toBe(750);
});

test('time with the model runs from the question to the answer, waits included', () => {
  const events = stamp([runStart(), turnStart(1), attempt(), reply(), toolEnd(), turnStart(2), attempt({ turn: 2 })]);
  const failed: EventBody = { type: 'model_failed', turn: 2, kind: 'api_error', message: 'no' };
  const all = [...events, ...stamp([failed], { begin_ms: Date.parse(events.at(-1)?.time ?? '') + 500 })];
  expect(meterOf(all)).toMatchObject({ api_duration_ms: 2000 + 1500, duration_ms: 6500 });
});

test('a turn that never came has a row with what it was billed', () => {
  const { per_turn, turns } = report(turnStart(1), attempt({ usage: usage(), cost_usd: 0.1 }));
  expect(turns).toBe(0);
  expect(per_turn).toMatchObject([{ turn: 1, model: null, stop_reason: null, input_tokens: 100, cost_usd: 0.1 }]);
});

test('B037: a resumed run counts every reply once and leaves the pause out of its time', () => {
  const first = stamp([runStart(), turnStart(1), reply(), turnStart(2), attempt({ turn: 2 })]);
  const later = Date.parse('2026-12-01T09:00:00.000Z');
  const second = stamp([{ type: 'run_resume' }, turnStart(2), reply({ turn: 2 })], { begin_ms: later });
  const counted = meterOf([...first, ...second]);
  expect(counted).toMatchObject({
    turns: 2,
    requests: 3,
    total_input_tokens: 200,
    cost_usd: 1,
    duration_ms: 4000 + 2000,
  });
  expect(counted.api_duration_ms).toBe(1000 + 1000); // the wait that died with its process is not counted
  expect(counted.per_turn.map((row) => [row.turn, row.attempts.length, row.stop_reason])).toEqual([
    [1, 0, 'end_turn'],
    [2, 1, 'end_turn'],
  ]);
});

test('the meter and the ledger that enforces budgets count the same', () => {
  const bodies = [
    runStart(),
    turnStart(1),
    attempt({ usage: usage({ estimated: true }), cost_usd: 0.1 }),
    replyWithCalls('bash', ['{}'], { usage: CACHED, cost_usd: 0.2 }),
    toolEnd(),
    turnStart(2),
    reply({ turn: 2, cost_usd: 0.3 }),
  ];
  const { ledger } = stateOf(bodies);
  expect(meterOf(stamp(bodies))).toMatchObject({
    turns: ledger.turns,
    requests: ledger.requests,
    retries: ledger.retries,
    cost_usd: ledger.cost_usd,
    last_input_tokens: ledger.last_input_tokens,
    total_output_tokens: ledger.total.output_tokens,
  });
});

test('summing up the history is billed to the turn before it', () => {
  const { per_turn, requests, total_input_tokens, models } = report(turnStart(1), reply(), {
    type: 'compacted',
    summary: [],
    usage: usage(),
    cost_usd: 0.25,
  });
  expect(requests).toBe(2);
  expect(total_input_tokens).toBe(200);
  expect(per_turn).toMatchObject([{ turn: 1, input_tokens: 200, cost_usd: 0.75 }]);
  expect(models).toMatchObject({ 'claude-sonnet-5-5': { input_tokens: 200, requests: 2 } });
});
