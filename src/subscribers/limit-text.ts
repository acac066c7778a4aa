import { formatDuration } from '../core/measures.ts';
import { showSpan, showUsd } from '../core/figures.ts';
import type { Limits } from '../core/config.ts';
import type { LimitHit } from '../core/outcome.ts';

const LIMIT_TEXTS = {
  max_turns: { name: 'turn limit', show: (value) => String(value) },
  max_input_tokens: { name: 'input token limit', show: (value) => String(value) },
  max_output_tokens: { name: 'output token limit', show: (value) => String(value) },
  max_total_tokens: { name: 'token limit', show: (value) => String(value) },
  max_cost: { name: 'cost limit', show: showUsd },
  max_tool_calls: { name: 'tool call limit', show: (value) => String(value) },
  timeout: { name: 'time limit', show: showSpan },
} as const satisfies Record<LimitHit['reason'], { name: string; show: (value: number) => string }>;

/** "turn limit reached (max_turns): limit 2, used 2": the limit, its value and what was used. */
export function limitText({ reason, limit, used }: LimitHit): string {
  const { name, show } = LIMIT_TEXTS[reason];
  return `${name} reached (${reason}): limit ${show(limit)}, used ${show(used)}`;
}

/** Every limit with its value, given or default. */
export function limitsText(limits: Limits): string {
  return Object.entries(limits)
    .map(([key, value]) =>
      key.endsWith('_ms') ? `${key.slice(0, -3)} ${formatDuration(Number(value))}` : `${key} ${value ?? 'none'}`,
    )
    .join(', ');
}
