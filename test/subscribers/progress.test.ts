import { describe, expect, test } from 'vitest';
import { createProgress } from '../../src/subscribers/progress.ts';
import {
  attempt,
  denial,
  reply,
  replyWithCalls,
  runStart,
  stamp,
  taskConfig,
  toolEnd,
  turnStart,
  usage,
  validOutput,
} from '../helpers/events.ts';
import type { EventBody } from '../../src/core/events.ts';
import type { RunOutcome } from '../../src/core/outcome.ts';
import type { ProgressOptions } from '../../src/subscribers/progress.ts';

/** The lines that these events print. */
function linesOf(bodies: readonly EventBody[], options: Partial<ProgressOptions> = {}): string[] {
  let text = '';
  const progress = createProgress({
    write: (more) => void (text += more),
    verbose: false,
    quiet: false,
    color: false,
    transcript: 'out/transcript.jsonl',
    next: () => 'agent-run resume out',
    ...options,
  });
  for (const event of stamp(bodies)) progress.onEvent(event);
  return text.split('\n').slice(0, -1);
}

function runEnd(outcome: RunOutcome, message = 'why'): EventBody {
  return { type: 'run_end', outcome, exit_code: 0, message };
}

const FORGED = 'a\n::error::x\r::add-mask::y ##[group]z \u001b[2J\u202e';
const NO_SANDBOX = { mode: 'off', active: 'none', detail: '' } as const;

describe('the start', () => {
  test('B031, B153: task, model, all effective limits and the transcript are told before anything is spent', () => {
    const lines = linesOf([runStart()]);
    expect(lines).toEqual([
      'agent-run 0.1.0: task pr-review (tasks/review.json), model anthropic/claude-sonnet-5-5',
      'limits: max_turns 30, max_input_tokens none, max_output_tokens none, max_total_tokens 2000000, max_cost_usd none, ' +
        'max_tool_calls 200, max_denials 10, timeout 20m, tool_timeout 2m, idle_timeout 2m, max_retries 8, on_limit finalize',
      'sandbox: bubblewrap (bubblewrap 0.8)',
      'transcript: out/transcript.jsonl',
    ]);
  });

  test('a run without a sandbox says so, also when it is told to be quiet', () => {
    const start = runStart({ runner: { ...runStart().runner, sandbox: NO_SANDBOX } });
    expect(linesOf([start], { quiet: true })).toEqual(['warning: commands run without a sandbox; sandbox: off']);
  });

  test('what was left out of a context is a warning', () => {
    const part = { label: 'git diff', text: '', bytes: 102_400, omitted_bytes: 2048, notes: [] };
    const lines = linesOf([runStart({ context: [part] })]);
    expect(lines).toContain('context: git diff, 100.0 KiB');
    expect(lines).toContain('git diff: 2.0 KiB left out (max_size)');
  });
});

describe('a turn', () => {
  test('is one line with its tokens, cost and time', () => {
    const tokens = usage({ input_tokens: 345, cache_read_input_tokens: 12_000, output_tokens: 678, estimated: true });
    expect(linesOf([replyWithCalls('bash', ['{}', '{}'], { turn: 3, usage: tokens, duration_ms: 4210 })])).toEqual([
      'turn 3: tool_use, 2 calls, 12,345 tokens in (12,000 cached), 678 out (estimated), $0.5000, 4.2 s',
    ]);
  });

  test('with an unknown price says that the cost is unknown', () => {
    expect(linesOf([reply({ cost_usd: null })])[0]).toContain('cost unknown');
  });

  test('tells what the model says only when asked, with a bar before each line', () => {
    const said = reply({ content: [{ type: 'text', text: 'First.\n\n::notice::hi' }] });
    expect(linesOf([said])).toHaveLength(1);
    expect(linesOf([said], { verbose: true }).slice(1)).toEqual(['  | First.', '  | ::notice::hi']);
  });
});

describe('a call', () => {
  const asked = replyWithCalls('bash', ['{"command":"npm test"}']);

  test('is one line with what it was about, its ending and its time', () => {
    expect(linesOf([asked, toolEnd({ bytes: 3482, duration_ms: 61_000 })])[1]).toBe(
      '  bash {"command":"npm test"}: ok, 1m 1s, 3.4 KiB',
    );
  });

  test('B079: that was denied is told once, with the reason and the rule, also when quiet', () => {
    const events = [asked, denial({ rule: 'npm *' }), toolEnd({ status: 'denied', is_error: true })];
    expect(linesOf(events, { quiet: true })).toEqual([
      'denied: bash {"command":"npm test"}: no rule allows "curl" (rule npm *)',
    ]);
  });

  test('that was allowed shows its rule only when asked', () => {
    const allowed = denial({ verdict: 'allow', rule: 'npm test' });
    const started: EventBody = {
      type: 'tool_start',
      tool_use_id: 'toolu_1',
      name: 'bash',
      effect: 'write',
      early: false,
    };
    expect(linesOf([asked, allowed, started])).toHaveLength(1);
    expect(linesOf([allowed, started], { verbose: true })).toEqual([
      '  bash allowed (rule npm test)',
      '  bash started (write)',
    ]);
  });

  test('with an endless input is cut to a line', () => {
    const long = replyWithCalls('write_file', [JSON.stringify({ path: 'a', content: 'x'.repeat(100_000) })]);
    expect(linesOf([long, toolEnd({ name: 'write_file' })])[1]?.length).toBeLessThan(250);
  });
});

test('B181: each retry is one line with status, type, attempt of the most, and wait', () => {
  const events = [1, 2, 3].map((count) =>
    attempt({ attempt: count, wait_ms: count * 1000, request_id: `req_${count}` }),
  );
  expect(linesOf(events, { quiet: true })).toEqual([
    'turn 1: attempt 1 of 9 failed: 529 overloaded_error; trying again in 1.0 s (request id req_1): Overloaded',
    'turn 1: attempt 2 of 9 failed: 529 overloaded_error; trying again in 2.0 s (request id req_2): Overloaded',
    'turn 1: attempt 3 of 9 failed: 529 overloaded_error; trying again in 3.0 s (request id req_3): Overloaded',
  ]);
});

test('the last attempt says that none follows', () => {
  const { wait_ms: _wait, status: _status, error_type: _type, ...last } = attempt({ attempt: 9, message: 'reset' });
  const failed: EventBody = { type: 'model_failed', turn: 1, kind: 'api_error', message: 'gave up' };
  expect(linesOf([last, failed], { quiet: true })).toEqual([
    'turn 1: attempt 9 of 9 failed: no answer; no further attempt: reset',
    'turn 1: no reply (api_error): gave up',
  ]);
});

test('limits, checks, verify commands, notices and repairs each say their line', () => {
  const limit = { reason: 'max_turns', limit: 30, used: 29 } as const;
  const issues = [
    { pointer: '', message: 'must be object' },
    { pointer: '/a', message: 'x' },
  ];
  const ran = { index: 0, command: 'npm test', timed_out: false, output: '', duration_ms: 500 };
  const lines = linesOf([
    { type: 'user_message', reason: 'prompt', content: [] },
    { type: 'user_message', reason: 'limit_reminder', content: [], limit },
    { type: 'output_checked', stage: 'schema', ok: false, kind: 'invalid', issues },
    { type: 'user_message', reason: 'output_repair', content: [] },
    validOutput('{}'),
    { type: 'verify_end', ok: false, exit_code: 1, ...ran },
    { type: 'verify_end', ok: true, exit_code: 0, ...ran },
    { type: 'output_checked', stage: 'gate', ok: false, kind: 'invalid', issues: [] },
    { type: 'notice', level: 'warning', code: 'x', message: 'careful' },
    { type: 'notice', level: 'info', code: 'x', message: 'by the way' },
    { type: 'compacted', summary: [], usage: usage(), cost_usd: 0.01 },
    { type: 'run_resume', limits: taskConfig().limits },
  ]);
  expect(lines.slice(0, -1)).toEqual([
    'turn limit reached (max_turns): limit 30, used 29: asking for a conclusion',
    'output: invalid: (root): must be object and 1 more',
    'asking again: output_repair',
    'output: ok',
    'verify: npm test: exit code 1, 500 ms',
    'verify: npm test: ok, 500 ms',
    'gate: invalid',
    'warning: careful',
    'by the way',
    'history replaced by a summary, $0.0100',
  ]);
  expect(lines.at(-1)).toMatch(/^resuming; transcript out\/transcript.jsonl; limits: max_turns 30, /);
});

describe('the end', () => {
  test('of a run that failed is one line: cause, its place, what was spent, and the next command', () => {
    const limit = { reason: 'max_turns', limit: 2, used: 2 } as const;
    const reminder: EventBody = { type: 'user_message', reason: 'limit_reminder', content: [], limit };
    const lines = linesOf([runStart(), turnStart(1), reply(), reminder, runEnd(limit, 'turn limit reached')], {
      quiet: true,
    });
    expect(lines.at(-1)).toBe(
      'agent-run: max_turns (exit 4): turn limit reached | at out/transcript.jsonl:4 | ' +
        'spent 1 turn, 100 tokens in, 20 out, $0.5000, 4.0 s | next: agent-run resume out',
    );
  });

  test('of a run that went well is told too, asks for nothing, and is nothing to tell when quiet', () => {
    const events = [runStart(), turnStart(1), reply(), runEnd({ reason: 'completed' }, 'completed')];
    expect(linesOf(events).at(-1)).toBe(
      'agent-run: completed (exit 0) | at out/transcript.jsonl:4 | spent 1 turn, 100 tokens in, 20 out, $0.5000, 3.0 s',
    );
    expect(linesOf(events, { quiet: true })).toEqual([]);
  });

  test('of a run that went on counts what was spent before, and does not tell it again', () => {
    const earlier = stamp([runStart(), turnStart(1), reply()]);
    const lines = linesOf([{ type: 'run_resume' }, turnStart(2), reply({ turn: 2 }), runEnd({ reason: 'completed' })], {
      earlier,
    });
    expect(lines).toHaveLength(3);
    expect(lines.at(-1)).toContain('spent 2 turns, 200 tokens in, 40 out, $1.0000');
  });

  test.each<[RunOutcome, number]>([
    [{ reason: 'denied', tool: 'bash', detail: '' }, 2],
    [{ reason: 'verify_failed', command: 'x', exit_code: 1, attempts: 1 }, 3],
    [{ reason: 'api_error', detail: '' }, 4],
    [{ reason: 'cancelled', signal: 'SIGINT' }, 6],
  ])('$0.reason points to the line that caused it', (outcome, line) => {
    const events: EventBody[] = [
      reply(),
      denial(),
      {
        type: 'verify_end',
        index: 0,
        command: 'x',
        ok: false,
        exit_code: 1,
        timed_out: false,
        output: '',
        duration_ms: 1,
      },
      { type: 'model_failed', turn: 1, kind: 'api_error', message: '' },
      denial({ verdict: 'allow' }),
      runEnd(outcome),
    ];
    expect(linesOf(events).at(-1)).toContain(` | at out/transcript.jsonl:${line} | `);
  });
});

describe('B141, emit: text of others cannot act', () => {
  const events: EventBody[] = [
    runStart({ context: [{ label: FORGED, text: '', bytes: 1, omitted_bytes: 1, notes: [] }] }),
    attempt({ message: FORGED }),
    reply({ content: [{ type: 'text', text: FORGED }] }),
    replyWithCalls(FORGED, [FORGED]),
    denial({ name: FORGED, reason: FORGED, rule: FORGED }),
    toolEnd({ name: FORGED }),
    { type: 'model_failed', turn: 1, kind: 'api_error', message: FORGED },
    {
      type: 'output_checked',
      stage: 'schema',
      ok: false,
      kind: 'invalid',
      issues: [{ pointer: FORGED, message: FORGED }],
    },
    { type: 'notice', level: 'error', code: 'x', message: FORGED },
    runEnd({ reason: 'api_error', detail: '' }, FORGED),
  ];

  test('no printed line is a workflow command or moves the cursor', () => {
    const text = linesOf(events, { verbose: true }).join('\n');
    const lines = text.split(/\r\n|\r|\n/);
    expect(lines.filter((line) => /^\s*::/.test(line) || line.includes('##['))).toEqual([]);
    expect(text.includes('\u001b') || text.includes('\u202e')).toBe(false);
  });
});

test('colour is only there when asked for', () => {
  const events = [attempt(), runEnd({ reason: 'completed' })];
  expect(linesOf(events).join('')).not.toContain('\u001b');
  const [colored = ''] = linesOf(events, { color: true });
  expect(colored.startsWith('\u001b[33mturn 1: attempt')).toBe(true);
  expect(colored.endsWith('\u001b[39m')).toBe(true);
});

test('B117: each line is written as its event is heard, whole', () => {
  const writes: string[] = [];
  const progress = createProgress({
    write: (text) => void writes.push(text),
    verbose: false,
    quiet: false,
    color: false,
    transcript: 't',
    next: () => null,
  });
  const [first, second] = stamp([reply(), attempt()]);
  if (first) progress.onEvent(first);
  expect(writes).toHaveLength(1);
  if (second) progress.onEvent(second);
  expect(writes.every((text) => text.endsWith('\n'))).toBe(true);
});
