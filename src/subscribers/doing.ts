import { showCount, showMany, showSpan, showUsd } from '../core/figures.ts';
import { toolUses } from '../core/messages.ts';
import { oneLine } from './one-line.ts';
import type { Limits } from '../core/config.ts';
import type { RunEvent } from '../core/events.ts';
import type { UsageMeter } from './usage-meter.ts';

/** What a run does at the moment, in words. */
export interface Doing {
  note(event: RunEvent): void;
  /** "turn 3: bash {"command":"npm test"}, 12.0 s". */
  now(now_ms: number): string;
  /** "12,345 tokens in, 678 out, $0.0123". */
  spent(): string;
  /** "17 turns, $0.4877, 18m 2s left"; '' before the limits are known. */
  left(now_ms: number): string;
}

const SHOWN = 80;

/** Follows one run; `meter` has heard the same events. */
export function createDoing(meter: UsageMeter): Doing {
  const inputs = new Map<string, string>();
  const calls = new Map<string, string>();
  let turn = 0;
  let what = 'getting ready';
  let since_ms = 0;
  let started_ms = 0;
  let limits: Limits | undefined;
  return {
    note(event) {
      const time_ms = Date.parse(event.time);
      if (event.type === 'run_start') limits = event.task.limits;
      if (event.type === 'run_resume') limits = event.limits ?? limits;
      if (started_ms === 0) started_ms = since_ms = time_ms;
      if (event.type === 'turn_start') turn = event.turn;
      const begun = begunBy(event, { inputs, calls });
      if (begun === undefined) return;
      what = begun;
      since_ms = time_ms;
    },
    now: (now_ms) => {
      const call = [...calls.values()].at(-1);
      const many = calls.size > 1 ? ` and ${showMany(calls.size - 1, 'more call')}` : '';
      const when = turn === 0 ? '' : `turn ${turn}: `;
      return `${when}${call === undefined ? what : `${call}${many}`}, ${showSpan(now_ms - since_ms)}`;
    },
    spent() {
      const usage = meter.report();
      const tokens = `${showCount(usage.total_input_tokens)} tokens in, ${showCount(usage.total_output_tokens)} out`;
      return `${tokens}, ${showUsd(usage.cost_usd)}`;
    },
    left: (now_ms) => (limits ? leftText(limits, meter, now_ms - started_ms) : ''),
  };
}

interface Calls {
  inputs: Map<string, string>;
  /** Calls that run, by id. */
  calls: Map<string, string>;
}

/** What begins with an event; undefined: nothing that is worth telling. */
function begunBy(event: RunEvent, { inputs, calls }: Calls): string | undefined {
  switch (event.type) {
    case 'turn_start':
      calls.clear();
      return 'waiting for the model';
    case 'attempt':
      return event.wait_ms === undefined ? undefined : `waiting ${showSpan(event.wait_ms)} before another attempt`;
    case 'tool_start': {
      const input = inputs.get(event.tool_use_id) ?? '';
      calls.set(event.tool_use_id, oneLine(`${event.name} ${input === '{}' ? '' : input}`, SHOWN));
      return 'calling tools';
    }
    case 'tool_end':
      calls.delete(event.tool_use_id);
      return calls.size === 0 ? 'working' : undefined;
    case 'model_reply':
      inputs.clear();
      for (const call of toolUses(event.content)) inputs.set(call.id, call.input_json);
      return 'working';
    case 'output_checked':
      return 'checking the output';
    default:
      return undefined;
  }
}

function leftText({ max_turns, max_cost_usd, timeout_ms }: Limits, meter: UsageMeter, used_ms: number): string {
  const { turns, cost_usd } = meter.report();
  const parts = [
    ...(max_turns === null ? [] : [showMany(Math.max(0, max_turns - turns), 'turn')]),
    ...(max_cost_usd === null || cost_usd === null ? [] : [showUsd(Math.max(0, max_cost_usd - cost_usd))]),
    showSpan(timeout_ms - used_ms),
  ];
  return `${parts.join(', ')} left`;
}
