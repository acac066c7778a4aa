import { describe, expect, test } from 'vitest';
import { closing, next } from '../../src/agent/next.ts';
import { advice, call, checked, ended, prompt, reduced, reply, runStart, text, turn } from './story.ts';
import type { EventBody } from '../../src/core/events.ts';
import type { StoryOptions } from './story.ts';

function stepAfter(events: EventBody[], options: StoryOptions = {}) {
  return next(reduced([runStart(options), ...events]), advice(options));
}

function outcomeAfter(events: EventBody[], options: StoryOptions = {}) {
  const step = stepAfter(events, options);
  return step.kind === 'end' ? step.outcome : step;
}

const failed = (kind: 'api_error' | 'auth_error' | 'rate_limited' | 'context_exhausted'): EventBody => ({
  type: 'model_failed',
  turn: 1,
  kind,
  message: 'no',
});

describe('the first steps', () => {
  test('a run begins with its prompt', () => {
    expect(stepAfter([])).toEqual({ kind: 'prompt', index: 0 });
  });

  test('after the prompt the model is asked, with the task’s max_tokens', () => {
    expect(stepAfter([prompt])).toMatchObject({
      kind: 'ask',
      turn: 1,
      max_tokens: 1000,
      concluding: false,
      reason: 'prompt',
    });
  });

  test('an empty context with when_empty: skip asks nothing', () => {
    const step = next(reduced([{ ...runStart(), skip: 'the diff is empty' }]), advice());
    expect(step).toEqual({ kind: 'end', outcome: { reason: 'skipped', detail: 'the diff is empty' } });
  });

  test('a run that has ended stays ended', () => {
    const end: EventBody = { type: 'run_end', outcome: { reason: 'completed' }, exit_code: 0, message: '' };
    expect(outcomeAfter([prompt, end])).toEqual({ reason: 'completed' });
  });
});

describe('calls', () => {
  test('open calls are run, whatever the stop_reason says', () => {
    expect(stepAfter([prompt, turn(), reply([call('a')], 'end_turn')])).toEqual({ kind: 'act' });
  });

  test('when all are answered the model is asked again', () => {
    const step = stepAfter([prompt, turn(), reply([call('a')]), ended('a')]);
    expect(step).toMatchObject({ kind: 'ask', turn: 2, reason: 'tool_results' });
  });

  test('a denial is named as the reason to go on', () => {
    expect(stepAfter([prompt, turn(), reply([call('a')]), ended('a', 'denied')])).toMatchObject({
      reason: 'tool_denied',
    });
  });

  test('an effect that was begun before a crash is reported as unknown, not repeated', () => {
    const started: EventBody = { type: 'tool_start', tool_use_id: 'a', name: 'write', effect: 'write', early: false };
    const step = stepAfter([prompt, turn(), reply([call('a', 'write')]), started]);
    expect(step).toMatchObject({ kind: 'answer', status: 'interrupted', is_error: true });
  });

  test('a read that was begun before a crash is simply run again', () => {
    const started: EventBody = { type: 'tool_start', tool_use_id: 'a', name: 'look', effect: 'read', early: true };
    expect(stepAfter([prompt, turn(), started, reply([call('a')])])).toEqual({ kind: 'act' });
  });

  test('a denial that ends the run answers the other calls first, then ends it with code 5', () => {
    const verdict: EventBody = {
      type: 'policy_verdict',
      tool_use_id: 'a',
      name: 'look',
      verdict: 'terminate',
      reason: 'no',
      input_sha256: '',
    };
    const events = [prompt, turn(), reply([call('a'), call('b')]), verdict, ended('a', 'denied')];
    expect(stepAfter(events)).toMatchObject({ kind: 'answer', call: { id: 'b' } });
    expect(outcomeAfter([...events, ended('b', 'refused')])).toMatchObject({ reason: 'denied', tool: 'look' });
  });

  test('more denials than max_denials end the run, as many do not', () => {
    const verdict: EventBody = {
      type: 'policy_verdict',
      tool_use_id: 'a',
      name: 'look',
      verdict: 'deny',
      input_sha256: '',
    };
    const once = [prompt, turn(), reply([call('a')]), verdict, ended('a', 'denied')];
    expect(stepAfter(once, { limits: { max_denials: 1 } }).kind).toBe('ask');
    expect(outcomeAfter([...once, verdict], { limits: { max_denials: 1 } })).toEqual({
      reason: 'max_denials',
      limit: 1,
      used: 2,
    });
  });
});

describe('stop reasons', () => {
  const after = (event: EventBody) => outcomeAfter([prompt, turn(), event]);

  test('refusal ends the run, with the category', () => {
    const details = { stop_details: { category: 'cyber', explanation: null } };
    expect(after(reply([text('I cannot')], 'refusal', details))).toMatchObject({
      reason: 'refused',
      category: 'cyber',
    });
  });

  test('a full context window ends the run', () => {
    expect(after(reply([text('half')], 'model_context_window_exceeded'))).toMatchObject({
      reason: 'context_exhausted',
    });
  });

  test('a value we do not know is a failure that names it', () => {
    expect(after(reply([text('x')], 'unknown', { stop_reason_raw: 'tired' }))).toMatchObject({
      reason: 'api_error',
      detail: expect.stringContaining('"tired"'),
    });
  });

  test('pause_turn is sent on without a word of ours', () => {
    expect(stepAfter([prompt, turn(), reply([text('searching')], 'pause_turn')])).toMatchObject({
      kind: 'ask',
      reason: 'pause_turn',
    });
  });

  test('a turn cut by max_tokens is dropped and asked again with twice the room, three times in a row at most', () => {
    const cut = (cap: number) => [turn(1, { max_tokens: cap }), reply([call('a')], 'max_tokens')];
    expect(stepAfter([prompt, ...cut(1000)])).toMatchObject({
      kind: 'ask',
      max_tokens: 2000,
      reason: 'resume_truncated',
    });
    expect(outcomeAfter([prompt, ...cut(1000), ...cut(2000), ...cut(4000)])).toEqual({
      reason: 'truncated',
      max_tokens: 4000,
      attempts: 3,
    });
  });

  test('an empty reply is asked about once, then it is a failure', () => {
    const empty = [turn(), reply([])];
    expect(stepAfter([prompt, ...empty])).toMatchObject({ kind: 'say', reason: 'empty_reply' });
    const said: EventBody = { type: 'user_message', reason: 'empty_reply', content: [] };
    expect(outcomeAfter([prompt, ...empty, said, ...empty])).toMatchObject({
      reason: 'output_missing',
      detail: expect.stringContaining('empty response'),
    });
  });
});

describe('the output', () => {
  const done = [prompt, turn(), reply([text('fine')])];
  const tool: StoryOptions = { mode: 'tool' };
  const submit = [prompt, turn(), reply([call('s', 'submit_result', '{"a":1}')])];

  test('a reply without calls is checked', () => {
    expect(stepAfter(done)).toEqual({ kind: 'check', stage: 'schema', candidate: { source: 'text', text: 'fine' } });
  });

  test('a valid output completes the run', () => {
    expect(outcomeAfter([...done, checked(true)])).toEqual({ reason: 'completed' });
  });

  test('an invalid one goes back with its issues until the attempts are used', () => {
    const again = [...done, checked(false)];
    expect(stepAfter(again)).toMatchObject({
      kind: 'say',
      reason: 'output_repair',
      text: expect.stringContaining('/a'),
    });
    expect(outcomeAfter([...again, ...again, ...again])).toMatchObject({ reason: 'output_invalid', attempts: 3 });
  });

  test('no output at all is asked for, then the run fails as missing', () => {
    const missing = [...done, checked(false, { kind: 'missing' })];
    expect(stepAfter(missing)).toMatchObject({ kind: 'say', reason: 'output_missing' });
    expect(outcomeAfter([...missing, ...missing, ...missing])).toMatchObject({ reason: 'output_missing' });
  });

  test('a submit call is checked after the other calls of its turn, then answered', () => {
    const both = [prompt, turn(), reply([call('s', 'submit_result', '{"a":1}'), call('b')])];
    expect(stepAfter(both, tool)).toEqual({ kind: 'act' });
    expect(stepAfter([...both, ended('b')], tool)).toMatchObject({
      kind: 'check',
      candidate: { source: 'tool', input_json: '{"a":1}' },
    });
    expect(stepAfter([...both, ended('b'), checked(true)], tool)).toMatchObject({
      kind: 'answer',
      status: 'ok',
      is_error: false,
    });
  });

  test('an invalid submit is answered with an error and the model is asked again', () => {
    const invalid = [...submit, checked(false, { tool_use_id: 's' })];
    expect(stepAfter(invalid, tool)).toMatchObject({
      kind: 'answer',
      is_error: true,
      text: expect.stringContaining('/a'),
    });
    expect(stepAfter([...invalid, ended('s', 'invalid')], tool)).toMatchObject({ kind: 'ask' });
  });

  test('only the first submit of a turn is taken', () => {
    const twice = [prompt, turn(), reply([call('s', 'submit_result'), call('t', 'submit_result')])];
    expect(stepAfter(twice, tool)).toMatchObject({ kind: 'answer', call: { id: 't' }, is_error: true });
  });

  test('in other modes submit_result is a tool like any other', () => {
    expect(stepAfter(submit)).toEqual({ kind: 'act' });
  });

  test('verify runs before the gate, and the gate says no with code 9', () => {
    const options: StoryOptions = { has_gate: true, task: { verify: [{ run: ['npm', 'test'], attempts: 2 }] } };
    const ok: EventBody = {
      type: 'verify_end',
      index: 0,
      command: 'npm test',
      ok: true,
      exit_code: 0,
      timed_out: false,
      output: '',
      duration_ms: 1,
    };
    expect(stepAfter([...done, checked(true)], options)).toEqual({ kind: 'verify', index: 0 });
    expect(stepAfter([...done, checked(true), ok], options)).toEqual({
      kind: 'check',
      stage: 'gate',
      value_text: '{}',
    });
    const no = checked(false, { stage: 'gate' });
    expect(outcomeAfter([...done, checked(true), ok, no], options)).toMatchObject({ reason: 'gate_failed' });
  });

  test('a failing verify goes back to the agent until its attempts are used', () => {
    const options: StoryOptions = { task: { verify: [{ run: ['npm', 'test'], attempts: 2 }] } };
    const bad: EventBody = {
      type: 'verify_end',
      index: 0,
      command: 'npm test',
      ok: false,
      exit_code: 1,
      timed_out: false,
      output: 'boom',
      duration_ms: 1,
    };
    const once = [...done, checked(true), bad];
    expect(stepAfter(once, options)).toMatchObject({
      kind: 'say',
      reason: 'verify_feedback',
      text: expect.stringContaining('boom'),
    });
    const said: EventBody = { type: 'user_message', reason: 'verify_feedback', content: [] };
    expect(outcomeAfter([...once, said, turn(2), reply([text('again')]), checked(true), bad], options)).toMatchObject({
      reason: 'verify_failed',
      exit_code: 1,
      attempts: 2,
    });
  });

  test('with a list of prompts only the last answer is checked', () => {
    const options: StoryOptions = { task: { prompts: ['one', 'two'] } };
    expect(stepAfter(done, options)).toEqual({ kind: 'prompt', index: 1 });
    const second: EventBody = { type: 'user_message', reason: 'next_prompt', content: [{ type: 'text', text: 'two' }] };
    const state = reduced([runStart(options), ...done, second]);
    expect(state.answers).toEqual(['fine']);
    expect(stepAfter([...done, second, turn(2), reply([text('end')])], options)).toMatchObject({ kind: 'check' });
  });
});

describe('failures and aborts', () => {
  test.each(['api_error', 'auth_error', 'rate_limited', 'context_exhausted'] as const)(
    '%s ends the run under its name',
    (kind) => {
      expect(outcomeAfter([prompt, turn(), failed(kind)])).toMatchObject({ reason: kind });
    },
  );

  test('an aborted run answers its open calls before it ends', () => {
    const cause = { reason: 'cancelled', signal: 'SIGTERM' } as const;
    const state = reduced([runStart(), prompt, turn(), reply([call('a')])]);
    expect(closing(state, cause, advice())).toMatchObject({ kind: 'answer', status: 'cancelled' });
    const answered = reduced([runStart(), prompt, turn(), reply([call('a')]), ended('a', 'cancelled')]);
    expect(closing(answered, cause, advice())).toEqual({ kind: 'end', outcome: cause });
  });
});
