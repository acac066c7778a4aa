import { describe, expect, test } from 'vitest';
import type { EventBody, ModelFailure, ToolStatus, UserMessageReason } from '../../src/core/events.ts';
import { STOP_REASONS } from '../../src/core/messages.ts';
import { type ContinueReason, EXIT_REASONS, LIMIT_REASONS } from '../../src/core/outcome.ts';
import { readSchema, schemaCheck } from './schema-check.ts';
import { SAMPLE_EVENTS } from './sample-events.ts';

const schema = readSchema('transcript');
const check = await schemaCheck('transcript');

function enumAt(...path: string[]): string[] {
  let value: unknown = schema;
  for (const key of path) value = (value as Record<string, unknown>)[key];
  return [...(value as string[])].sort();
}

const definition = (event: string, ...path: string[]) => enumAt('$defs', event, 'properties', ...path, 'enum');
const sorted = (record: object) => Object.keys(record).sort();

describe('the transcript schema', () => {
  test('names the events that core/events.ts names', () => {
    const names = {
      run_start: true, run_resume: true, turn_start: true, attempt: true, model_reply: true, model_failed: true, policy_verdict: true,
      tool_start: true, tool_end: true, user_message: true, output_checked: true, verify_end: true, compacted: true, turn_end: true,
      notice: true, run_end: true,
    } satisfies Record<EventBody['type'], true>; // prettier-ignore
    expect(enumAt('properties', 'type', 'enum')).toEqual(sorted(names));
    expect(enumAt('oneOf')).toHaveLength(sorted(names).length);
    expect([...new Set(SAMPLE_EVENTS.map((event) => event.type))].sort()).toEqual(sorted(names));
  });

  test('names the reasons and states that the code names', () => {
    const reasons = {
      prompt: true, tool_results: true, tool_denied: true, call_repair: true, output_missing: true, output_repair: true, pause_turn: true, resume_truncated: true,
      compaction: true, context_compacted: true, verify_feedback: true, finalize: true, next_prompt: true,
    } satisfies Record<ContinueReason, true>; // prettier-ignore
    const messages = {
      prompt: true, next_prompt: true, limit_reminder: true, output_repair: true, output_missing: true, empty_reply: true, verify_feedback: true, compaction_request: true, follow_up: true,
    } satisfies Record<UserMessageReason, true>; // prettier-ignore
    const states = {
      ok: true, error: true, denied: true, unknown: true, invalid: true, timed_out: true, cancelled: true, crashed: true, refused: true, over_limit: true, interrupted: true,
    } satisfies Record<ToolStatus, true>; // prettier-ignore
    const failures = {
      api_error: true, auth_error: true, rate_limited: true, context_exhausted: true, budget: true, deadline: true, aborted: true,
    } satisfies Record<ModelFailure['kind'], true>; // prettier-ignore
    expect(definition('turn_start', 'reason')).toEqual(sorted(reasons));
    expect(definition('user_message', 'reason')).toEqual(sorted(messages));
    expect(definition('tool_end', 'status')).toEqual(sorted(states));
    expect(definition('model_failed', 'kind')).toEqual(sorted(failures));
    expect(definition('model_reply', 'stop_reason')).toEqual([...STOP_REASONS, 'unknown'].sort());
    expect(definition('run_end', 'outcome', 'properties', 'reason')).toEqual([...EXIT_REASONS].sort());
    expect(definition('hit', 'reason')).toEqual(
      LIMIT_REASONS.filter((reason) => reason !== 'context_exhausted').sort(),
    );
  });

  test.each(SAMPLE_EVENTS.map((event, index) => [`${index + 1} ${event.type}`, event] as const))(
    'accepts event %s',
    (_name, event) => {
      expect(check(event)).toEqual([]);
    },
  );

  test.each(SAMPLE_EVENTS.map((event, index) => [`${index + 1} ${event.type}`, event] as const))(
    'refuses event %s with a key it does not know or without its number',
    (_name, event) => {
      const { seq: _seq, ...numberless } = event;
      expect(check({ ...event, surprise: 1 })).not.toEqual([]);
      expect(check(numberless)).not.toEqual([]);
    },
  );
});
