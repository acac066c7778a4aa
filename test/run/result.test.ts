import { describe, expect, test } from 'vitest';
import { EMPTY_STATE } from '../../src/agent/state.ts';
import { buildResult } from '../../src/run/result.ts';
import { createUsageMeter } from '../../src/subscribers/usage-meter.ts';
import {
  RUN_ID,
  denial,
  reply,
  replyWithCalls,
  runStart,
  stamp,
  stateOf,
  taskConfig,
  toolEnd,
  turnStart,
  validOutput,
} from '../helpers/events.ts';
import { schemaErrors } from '../helpers/schemas.ts';
import type { EventBody } from '../../src/core/events.ts';
import type { RunOutcome } from '../../src/core/outcome.ts';
import type { ResultFacts, ResultFile } from '../../src/run/result.ts';

const RUNNER = runStart().runner;
const HIT = { reason: 'max_turns', limit: 2, used: 2 } as const;

function resultOf(outcome: RunOutcome, bodies: readonly EventBody[], facts: Partial<ResultFacts> = {}): ResultFile {
  const meter = createUsageMeter();
  for (const event of stamp(bodies)) meter.onEvent(event);
  const result = buildResult({
    run_id: RUN_ID,
    outcome,
    message: 'why',
    state: bodies.length > 0 ? stateOf(bodies) : EMPTY_STATE,
    task: taskConfig(),
    usage: meter.report('2026-11-01'),
    runner: RUNNER,
    started_ms: Date.parse('2026-11-30T11:45:00Z'),
    finished_ms: Date.parse('2026-11-30T11:46:00Z'),
    files: ['transcript.jsonl', 'output.md', 'usage.json', 'result.json'],
    problems: [],
    ...facts,
  });
  expect(schemaErrors('result', result)).toEqual([]);
  return result;
}

test('a run that went well says what it is, what came out and where it stands', () => {
  const result = resultOf({ reason: 'completed' }, [runStart(), turnStart(1), reply(), validOutput('Done.')]);
  expect(result).toMatchObject({
    schema_version: 1,
    run_id: RUN_ID,
    task: { name: 'pr-review', file: 'tasks/review.json', sha256: 'a'.repeat(64), ref: null },
    status: 'success',
    exit_reason: 'completed',
    exit_code: 0,
    output: 'Done.',
    output_errors: [],
    limit_reached: null,
    turns: 1,
    git: { head: 'c0ffee', branch: 'main', dirty: false },
    resumed: false,
    started_at: '2026-11-30T11:45:00.000Z',
    finished_at: '2026-11-30T11:46:00.000Z',
    duration_ms: 60_000,
    model: 'claude-sonnet-5-5',
    provider: 'anthropic',
    runner: RUNNER,
    artifacts: { transcript: 'transcript.jsonl', output: 'output.md', usage: 'usage.json', result: 'result.json' },
  });
});

test('the result carries the sums of the usage, not its rows', () => {
  const { usage } = resultOf({ reason: 'completed' }, [runStart(), turnStart(1), reply()]);
  expect(usage).toMatchObject({
    total_input_tokens: 100,
    last_input_tokens: 100,
    cost_usd: 0.5,
    prices_as_of: '2026-11-01',
  });
  expect(usage).not.toHaveProperty('per_turn');
});

test('B031: the effective limits stand in the result, those of a resume before those of the task', () => {
  const limits = { ...taskConfig().limits, max_turns: 99 };
  expect(resultOf({ reason: 'completed' }, [runStart()]).limits).toEqual(taskConfig().limits);
  expect(resultOf({ reason: 'completed' }, [runStart(), { type: 'run_resume', limits }])).toMatchObject({
    limits,
    resumed: true,
  });
});

test('B079: every denial is listed with its tool, its rule and the digest of its input', () => {
  const bodies = [
    runStart(),
    replyWithCalls('bash', ['{}', '{}']),
    denial({ rule: 'curl *' }),
    toolEnd({ status: 'denied', is_error: true }),
    denial({ tool_use_id: 'toolu_2' }),
    toolEnd({ tool_use_id: 'toolu_2', status: 'denied', is_error: true }),
  ];
  const result = resultOf({ reason: 'completed' }, bodies);
  const common = { tool: 'bash', reason: 'no rule allows "curl"', input_sha256: 'b'.repeat(64) };
  expect(result.denials).toEqual([
    { ...common, tool_use_id: 'toolu_1', rule: 'curl *' },
    { ...common, tool_use_id: 'toolu_2', rule: null },
  ]);
  expect(result.tool_calls).toEqual({ total: 2, denied: 2, failed: 0, timed_out: 0 });
});

describe('limits', () => {
  test('B021: a limit that ended the run stands there with value and use', () => {
    const result = resultOf(HIT, [runStart(), reply()]);
    expect(result).toMatchObject({ status: 'failure', exit_code: 4, limit_reached: HIT, output: null });
  });

  test('a conclusion forced by a limit is a success with a warning', () => {
    const reminder: EventBody = { type: 'user_message', reason: 'limit_reminder', content: [], limit: HIT };
    const outcome: RunOutcome = { reason: 'completed', limit_reached: HIT };
    const result = resultOf(outcome, [runStart(), reminder, reply(), validOutput('x')]);
    expect(result).toMatchObject({ status: 'success', exit_code: 0, limit_reached: HIT, output: 'x' });
    expect(result.warnings).toEqual(['the run concluded early: turn limit reached (max_turns): limit 2, used 2']);
  });

  test('max_denials is no limit that was concluded under', () => {
    expect(resultOf({ reason: 'max_denials', limit: 1, used: 2 }, [runStart()]).limit_reached).toBeNull();
  });
});

test('an output that was refused leaves its errors, not its value', () => {
  const issues = [{ pointer: '/a', message: 'must be string' }];
  const check: EventBody = {
    type: 'output_checked',
    stage: 'schema',
    ok: false,
    kind: 'invalid',
    issues,
    value_text: '{"a":1}',
  };
  const result = resultOf({ reason: 'output_invalid', issues, attempts: 3 }, [runStart(), reply(), check]);
  expect(result).toMatchObject({ output: null, output_errors: issues, exit_code: 3 });
});

test('errors that were repaired are not reported as errors of the output', () => {
  const issues = [{ pointer: '', message: 'must be object' }];
  const check: EventBody = { type: 'output_checked', stage: 'schema', ok: false, kind: 'invalid', issues };
  const bodies = [runStart(), reply(), check, reply({ turn: 2 }), validOutput('x')];
  expect(resultOf({ reason: 'completed' }, bodies)).toMatchObject({ output: 'x', output_errors: [] });
});

test('verify commands and the gate say what they found', () => {
  const verify: EventBody = {
    type: 'verify_end',
    index: 0,
    command: 'npm test',
    ok: true,
    exit_code: 0,
    timed_out: false,
    output: 'x'.repeat(10_000),
    duration_ms: 5,
  };
  const issues = [{ pointer: '/verdict', message: 'must be "approve"' }];
  const gate: EventBody = { type: 'output_checked', stage: 'gate', ok: false, kind: 'invalid', issues };
  const result = resultOf({ reason: 'gate_failed', issues }, [runStart(), reply(), validOutput('x'), verify, gate]);
  expect(result.verify).toMatchObject([
    { command: 'npm test', ok: true, exit_code: 0, timed_out: false, duration_ms: 5 },
  ]);
  expect(result.verify[0]?.output.length).toBeLessThan(5000);
  expect(result).toMatchObject({ gate: { ok: false, issues }, output: 'x', exit_code: 9 });
});

test('a context is told by its size and notes, without its text', () => {
  const part = { label: 'git diff main..HEAD', text: 'secret diff', bytes: 11, omitted_bytes: 3, notes: ['cut'] };
  const { context } = resultOf({ reason: 'completed' }, [runStart({ context: [part] })]);
  expect(context).toEqual([{ label: 'git diff main..HEAD', bytes: 11, omitted_bytes: 3, notes: ['cut'] }]);
});

test('what could not be written is a warning beside those of the run', () => {
  const notice: EventBody = { type: 'notice', level: 'warning', code: 'x', message: 'careful' };
  const result = resultOf({ reason: 'completed' }, [runStart(), notice], {
    problems: ['cannot write usage.json: full'],
  });
  expect(result.warnings).toEqual(['careful', 'cannot write usage.json: full']);
});

test('a run that ended before it started has a whole result all the same', () => {
  const result = resultOf({ reason: 'config_error', detail: 'bad' }, []);
  expect(result).toMatchObject({ status: 'failure', exit_code: 2, git: null, context: [], turns: 0, runner: RUNNER });
  expect(result.limits).toEqual(taskConfig().limits);
});

test('a pause before a resume is no time of the run', () => {
  const { duration_ms } = resultOf({ reason: 'completed' }, [
    runStart(),
    { type: 'run_resume' },
    turnStart(1),
    reply(),
  ]);
  expect(duration_ms).toBe(2000);
});

test('a signal is its own status', () => {
  const result = resultOf({ reason: 'cancelled', signal: 'SIGTERM' }, [runStart(), reply(), validOutput('x')]);
  expect(result).toMatchObject({ status: 'cancelled', exit_code: 143, output: null });
});
