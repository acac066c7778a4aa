import { describe, expect, test } from 'vitest';
import { EXIT_REASONS } from '../../src/core/outcome.ts';
import { explain } from '../../src/run/explain.ts';
import { nextCommand } from '../../src/run/next-command.ts';
import { denial, runStart, stateOf, taskConfig } from '../helpers/events.ts';
import type { RunOutcome } from '../../src/core/outcome.ts';

const state = stateOf([runStart()]);
const issues = [
  { pointer: '/findings/0/line', message: 'must be integer' },
  { pointer: '', message: "must have required property 'summary'" },
  { pointer: '/x', message: 'must be string' },
];

/** One outcome of every reason, the line that explains it and what to type next. */
const ENDINGS: [RunOutcome, string, string | null][] = [
  [{ reason: 'completed' }, 'completed', null],
  [
    { reason: 'completed', limit_reached: { reason: 'max_turns', limit: 30, used: 29 } },
    'completed, concluding early: turn limit reached (max_turns): limit 30, used 29',
    null,
  ],
  [{ reason: 'skipped', detail: 'git diff is empty' }, 'skipped: git diff is empty', null],
  [
    { reason: 'internal_error', detail: 'x is undefined' },
    'a bug in agent-run: x is undefined',
    'agent-run resume out/run',
  ],
  [{ reason: 'io_error', detail: 'disk full' }, 'disk full', 'agent-run resume out/run'],
  [{ reason: 'config_error', detail: 'a.json:1:2: bad' }, 'a.json:1:2: bad', 'agent-run validate t.json'],
  [{ reason: 'mcp_unavailable', detail: 'docs did not start' }, 'docs did not start', 'agent-run validate t.json'],
  [{ reason: 'sandbox_unavailable', detail: 'no bwrap' }, 'no bwrap', 'agent-run doctor'],
  [
    { reason: 'output_invalid', issues, attempts: 3 },
    "the output does not match the output schema after 3 attempts: /findings/0/line: must be integer; (root): must have required property 'summary'; 1 more",
    "agent-run resume out/run --prompt 'Correct the output so that it matches the schema.'",
  ],
  [
    { reason: 'output_missing', detail: 'no output, 3 times' },
    'no output, 3 times',
    "agent-run resume out/run --prompt 'Give your final answer now.'",
  ],
  [
    { reason: 'truncated', max_tokens: 64_000, attempts: 3 },
    "the model's replies were cut in 3 turns in a row, the last at max_tokens 64000",
    'raise model.max_tokens in the task, then agent-run t.json',
  ],
  [
    { reason: 'max_turns', limit: 2, used: 2 },
    'turn limit reached (max_turns): limit 2, used 2',
    'agent-run resume out/run --max-turns 4',
  ],
  [
    { reason: 'max_input_tokens', limit: 1000, used: 900 },
    'input token limit reached (max_input_tokens): limit 1000, used 900',
    'raise limits.max_input_tokens in the task, then agent-run t.json',
  ],
  [
    { reason: 'max_output_tokens', limit: 1000, used: 999 },
    'output token limit reached (max_output_tokens): limit 1000, used 999',
    'raise limits.max_output_tokens in the task, then agent-run t.json',
  ],
  [
    { reason: 'max_total_tokens', limit: 1000, used: 999 },
    'token limit reached (max_total_tokens): limit 1000, used 999',
    'raise limits.max_total_tokens in the task, then agent-run t.json',
  ],
  [
    { reason: 'max_cost', limit: 0.5, used: 0.4877 },
    'cost limit reached (max_cost): limit $0.5000, used $0.4877',
    'agent-run resume out/run --max-cost-usd 1',
  ],
  [
    { reason: 'max_tool_calls', limit: 5, used: 6 },
    'tool call limit reached (max_tool_calls): limit 5, used 6',
    'raise limits.max_tool_calls in the task, then agent-run t.json',
  ],
  [
    { reason: 'timeout', limit: 90_000, used: 91_000 },
    'time limit reached (timeout): limit 1m 30s, used 1m 31s',
    'agent-run resume out/run --timeout 4m',
  ],
  [{ reason: 'context_exhausted', detail: 'too long' }, 'too long', 'agent-run validate t.json'],
  [
    { reason: 'max_denials', limit: 10, used: 11 },
    'max_denials reached: limit 10, denied 11',
    'cat out/run/summary.md',
  ],
  [
    { reason: 'denied', tool: 'bash', detail: 'no rule allows "curl"' },
    'bash was denied and its on_denied is "fail": no rule allows "curl"',
    'agent-run explain t.json -- COMMAND',
  ],
  [
    { reason: 'api_error', detail: 'anthropic answered overloaded_error', status: 529, request_id: 'req_9' },
    'anthropic answered overloaded_error (status 529, request id req_9)',
    'agent-run resume out/run',
  ],
  [
    { reason: 'auth_error', detail: 'anthropic answered 401 for req_9', status: 401, request_id: 'req_9' },
    'anthropic answered 401 for req_9',
    'set DEEPSEEK_API_KEY, then agent-run resume out/run',
  ],
  [{ reason: 'rate_limited', detail: 'too many', status: 429 }, 'too many (status 429)', 'agent-run resume out/run'],
  [
    { reason: 'refused', category: 'cyber', explanation: 'not this' },
    'the model refused (cyber): not this',
    'agent-run t.json --model ID',
  ],
  [
    { reason: 'verify_failed', command: "npm test -- 'a b'", exit_code: 1, attempts: 2 },
    "verify command `npm test -- 'a b'` still fails (exit code 1) after 2 attempts",
    "agent-run resume out/run --prompt 'Make `npm test -- '\\''a b'\\''` pass.'",
  ],
  [
    { reason: 'gate_failed', issues: issues.slice(0, 1) },
    'the output is valid and the gate says no: /findings/0/line: must be integer',
    'cat out/run/summary.md',
  ],
  [{ reason: 'cancelled', signal: 'SIGTERM' }, 'cancelled by SIGTERM', 'agent-run resume out/run'],
];

test.each(ENDINGS)('$reason is explained with its values and followed by a command', (outcome, line, next) => {
  expect(explain(outcome, state)).toBe(line);
  expect(nextCommand(outcome, { task_file: 't.json', run_dir: 'out/run', credentials: 'set DEEPSEEK_API_KEY' })).toBe(
    next,
  );
});

test('the table of endings holds every exit reason', () => {
  expect(new Set(ENDINGS.map(([outcome]) => outcome.reason))).toEqual(new Set(EXIT_REASONS));
});

test("the schema's file is named when it came from one", () => {
  const task = taskConfig({ output: { repair_attempts: 2, schema_file: 'schemas/out.json' } });
  const line = explain({ reason: 'output_invalid', issues: [], attempts: 1 }, stateOf([runStart({ task })]));
  expect(line).toBe('the output does not match schemas/out.json after 1 attempt: no detail given');
});

test('B079: an ending that looks fine still says what was denied', () => {
  const denied = stateOf([runStart(), denial(), denial({ tool_use_id: 'toolu_2', name: 'write_file' })]);
  expect(explain({ reason: 'completed' }, denied)).toBe('completed; 2 calls denied, first bash: no rule allows "curl"');
});

describe('the line stays one line', () => {
  test('a stack and line breaks are left out', () => {
    const detail = 'broke\n    at run (file:///x/y.js:1:2)\n    at z.js:3:4';
    expect(explain({ reason: 'internal_error', detail }, state)).toBe('a bug in agent-run: broke');
    expect(explain({ reason: 'io_error', detail: 'a\r\nb\n\n  c' }, state)).toBe('a b c');
  });

  test('it cannot act on a terminal or a CI system', () => {
    const detail = '::error::x\n##[add-mask]y \u001b[2J';
    expect(explain({ reason: 'io_error', detail }, state)).toBe('\\::error::x ##\\[add-mask]y \\u001b[2J');
  });

  test('a page of text is cut', () => {
    const line = explain({ reason: 'api_error', detail: '<html>'.repeat(10_000) }, state);
    expect(line.length).toBe(600);
    expect(line.endsWith('…')).toBe(true);
  });
});

describe('the next command', () => {
  test('quotes what a shell would take apart', () => {
    const facts = { task_file: "it's mine.json", run_dir: 'a b' };
    expect(nextCommand({ reason: 'cancelled', signal: 'SIGINT' }, facts)).toBe("agent-run resume 'a b'");
    expect(nextCommand({ reason: 'config_error', detail: '' }, facts)).toBe("agent-run validate 'it'\\''s mine.json'");
  });

  test('does without a run folder when there is none', () => {
    expect(nextCommand({ reason: 'io_error', detail: '' }, { task_file: 't.json' })).toBe('agent-run t.json');
    expect(nextCommand({ reason: 'output_missing', detail: '' }, { task_file: 't.json' })).toBe('agent-run t.json');
  });

  test('a denied call of another tool than bash points to the record of denials', () => {
    const outcome: RunOutcome = { reason: 'denied', tool: 'write_file', detail: '' };
    expect(nextCommand(outcome, { task_file: 't.json', run_dir: 'r' })).toBe('cat r/summary.md');
  });
});
