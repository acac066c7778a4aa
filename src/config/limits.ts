// Limits with their defaults; durations and sizes become numbers. Texts were checked by the schema, ranges by rangeIssues.

import type { Limits } from '../core/config.ts';
import { isJsonObject, type JsonValue } from '../core/json.ts';
import { MAX_TIMER_MS, parseDuration, parseSize } from '../core/measures.ts';
import { type Issue, showValue } from './issues.ts';
import { pointerTo } from './pointer.ts';
import { type RunOptions, tightest } from './merge.ts';
import type { LimitFields } from './task-file.ts';

const DURATIONS = { timeout: '20m', tool_timeout: '2m', idle_timeout: '120s' } as const;

/** The limits in force: the task's or the defaults, tightened by flags and environment. */
export function buildLimits(fields: LimitFields, options: RunOptions): Limits {
  const { timeout, tool_timeout, idle_timeout } = { ...DURATIONS, ...fields };
  const own: Limits = {
    max_turns: 30,
    max_input_tokens: null,
    max_output_tokens: null,
    max_total_tokens: 2_000_000,
    max_cost_usd: null,
    max_tool_calls: 200,
    max_denials: 10,
    max_retries: 8,
    on_limit: 'finalize',
    ...withoutDurations(fields),
    timeout_ms: durationMs(timeout),
    tool_timeout_ms: durationMs(tool_timeout),
    idle_timeout_ms: durationMs(idle_timeout),
  };
  return {
    ...own,
    max_turns:
      fields.max_turns === undefined
        ? (options.max_turns ?? own.max_turns)
        : tightest(own.max_turns, options.max_turns),
    max_cost_usd: tightest(own.max_cost_usd, options.max_cost_usd),
    timeout_ms:
      fields.timeout === undefined
        ? (options.timeout_ms ?? own.timeout_ms)
        : Math.min(own.timeout_ms, options.timeout_ms ?? Infinity),
  };
}

function withoutDurations(fields: LimitFields): Omit<LimitFields, keyof typeof DURATIONS> {
  const { timeout: _timeout, tool_timeout: _tool, idle_timeout: _idle, ...others } = fields;
  return others;
}

/** Milliseconds of a duration that rangeIssues accepted. */
export function durationMs(text: string): number {
  return parseDuration(text) ?? MAX_TIMER_MS;
}

/** Bytes of a size that rangeIssues accepted. */
export function sizeBytes(text: string): number {
  return parseSize(text) ?? Number.MAX_SAFE_INTEGER;
}

const DURATION_KEYS = new Set(['timeout', 'tool_timeout', 'idle_timeout']);
const SIZE_KEYS = new Set(['max_size', 'max_output']);
// User data: their keys mean nothing to us.
const OPAQUE_KEYS = new Set(['schema', 'gate', 'script', 'input_schema', 'inputs']);

/** Durations beyond the timer's range and sizes beyond exact numbers: their form is right, so the schema lets them pass. */
export function rangeIssues(value: JsonValue, pointer = ''): Issue[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => rangeIssues(item, pointerTo(pointer, index)));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const at = pointerTo(pointer, key);
    if (OPAQUE_KEYS.has(key)) return [];
    if (typeof item !== 'string') return rangeIssues(item, at);
    if (DURATION_KEYS.has(key) && parseDuration(item) === undefined) {
      return [
        {
          pointer: at,
          message: `found ${showValue(item)}, expected a duration of at least 1ms and at most ${MAX_TIMER_MS}ms (24 days)`,
        },
      ];
    }
    const bytes = SIZE_KEYS.has(key) ? parseSize(item) : 1;
    return bytes
      ? []
      : [{ pointer: at, message: `found ${showValue(item)}, expected a size of at least 1B, for example "100KiB"` }];
  });
}
