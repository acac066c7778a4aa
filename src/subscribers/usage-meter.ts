import { toolUses } from '../core/messages.ts';
import { NO_USAGE, addUsage, promptTokens } from '../core/usage.ts';
import { USAGE_VERSION } from './usage-report.ts';
import type { Attempt, Compacted, ModelReplyEvent, RunEvent, ToolEnd } from '../core/events.ts';
import type { Subscriber } from '../core/ports.ts';
import type { Usage } from '../core/usage.ts';
import type { LostAttempt, TokenCounts, ToolUsage, TurnUsage, UsageReport } from './usage-report.ts';

export interface UsageMeter extends Subscriber {
  /** Everything heard so far, in the form of usage.json; `prices_as_of` is the day of the price table, null without one. */
  report(prices_as_of?: string | null): UsageReport;
}

/** What was billed in some scope; `cost_usd` is null as soon as one cost was unknown. */
interface Spent {
  usage: Usage;
  cost_usd: number | null;
}

interface Row extends Spent {
  facts: Omit<TurnUsage, keyof TokenCounts>;
}

interface Meter {
  run_id: string;
  total: Spent;
  last_input_tokens: number;
  requests: number;
  retries: number;
  turns: number;
  api_ms: number;
  tool_ms: number;
  /** Time of the segments that are over, and where the present one began: a pause before a resume is not running time. */
  past_ms: number;
  began_ms: number;
  now_ms: number;
  asked_ms: number | null;
  models: Map<string, Spent & { requests: number; turns: number }>;
  tools: Map<string, ToolUsage>;
  rows: Map<number, Row>;
}

/** Folds events to the numbers of usage.json; a resumed run first replays its old events to it. */
export function createUsageMeter(): UsageMeter {
  const meter: Meter = {
    run_id: '',
    total: nothing(),
    last_input_tokens: 0,
    requests: 0,
    retries: 0,
    turns: 0,
    api_ms: 0,
    tool_ms: 0,
    past_ms: 0,
    began_ms: 0,
    now_ms: 0,
    asked_ms: null,
    models: new Map(),
    tools: new Map(),
    rows: new Map(),
  };
  return {
    name: 'usage-meter',
    onEvent: (event) => fold(meter, event),
    report: (prices_as_of = null) => reportOf(meter, prices_as_of),
  };
}

function fold(meter: Meter, event: RunEvent): void {
  keepTime(meter, event);
  switch (event.type) {
    case 'turn_start':
      meter.asked_ms = meter.now_ms;
      break;
    case 'attempt':
      onAttempt(meter, event);
      break;
    case 'model_reply':
      endWait(meter);
      onReply(meter, event);
      break;
    case 'model_failed':
      endWait(meter);
      break;
    case 'compacted':
      onCompacted(meter, event);
      break;
    case 'tool_end':
      onToolEnd(meter, event);
      break;
    default:
      break; // nothing is billed for the other events
  }
}

function keepTime(meter: Meter, event: RunEvent): void {
  const at = Date.parse(event.time);
  meter.run_id = event.run_id;
  // A run that ends before its start has used no time that could be told.
  if (event.type === 'run_start' || event.type === 'run_resume' || meter.began_ms === 0) {
    if (event.type === 'run_resume') meter.past_ms += meter.now_ms - meter.began_ms;
    meter.began_ms = at;
    meter.asked_ms = null; // the process that waited is gone
  }
  meter.now_ms = at;
}

/** The time from the question to its answer, waits between attempts included. */
function endWait(meter: Meter): void {
  if (meter.asked_ms !== null) meter.api_ms += meter.now_ms - meter.asked_ms;
  meter.asked_ms = null;
}

function onAttempt(meter: Meter, event: Attempt): void {
  meter.requests += 1;
  if (event.wait_ms !== undefined) meter.retries += 1;
  const lost: Spent = nothing();
  if (event.usage) spend(lost, event.usage, event.cost_usd ?? null);
  const row = rowOf(meter, event.turn);
  const model = modelOf(meter, event.model);
  model.requests += 1;
  for (const scope of [meter.total, row, model]) {
    if (event.usage) spend(scope, event.usage, event.cost_usd ?? null);
  }
  const { attempt, max_attempts, status, error_type, request_id, wait_ms } = event;
  const facts: Omit<LostAttempt, keyof TokenCounts> = {
    attempt,
    max_attempts,
    model: event.model,
    status: status ?? null,
    error_type: error_type ?? null,
    request_id: request_id ?? null,
    wait_ms: wait_ms ?? null,
  };
  row.facts.attempts.push({ ...facts, ...counts(lost) });
}

function onReply(meter: Meter, event: ModelReplyEvent): void {
  meter.requests += 1;
  meter.turns += 1;
  meter.last_input_tokens = promptTokens(event.usage);
  const row = rowOf(meter, event.turn);
  const model = modelOf(meter, event.model);
  model.requests += 1;
  model.turns += 1;
  for (const scope of [meter.total, row, model]) spend(scope, event.usage, event.cost_usd);
  row.facts = {
    ...row.facts,
    model: event.model,
    stop_reason: event.stop_reason_raw ?? event.stop_reason,
    request_id: event.request_id ?? null,
    duration_ms: event.duration_ms,
    calls: toolUses(event.content).length,
  };
}

/** Summing up the history belongs to the turn after which it happened; a summary that a reply gave was billed with it. */
function onCompacted(meter: Meter, event: Compacted): void {
  if (promptTokens(event.usage) + event.usage.output_tokens === 0) return;
  const row = rowOf(meter, meter.turns);
  const model = modelOf(meter, row.facts.model ?? '(unknown)');
  meter.requests += 1;
  model.requests += 1;
  for (const scope of [meter.total, row, model]) spend(scope, event.usage, event.cost_usd);
}

function onToolEnd(meter: Meter, event: ToolEnd): void {
  // The model made the name up: it must not choose the keys of our files.
  const name = event.status === 'unknown' ? '(unknown)' : event.name;
  const before = meter.tools.get(name) ?? { calls: 0, denied: 0, failed: 0, timed_out: 0, duration_ms: 0, bytes: 0 };
  const denied = event.status === 'denied';
  const timed_out = event.status === 'timed_out';
  meter.tool_ms += event.duration_ms;
  meter.tools.set(name, {
    calls: before.calls + 1,
    denied: before.denied + (denied ? 1 : 0),
    failed: before.failed + (event.is_error && !denied && !timed_out ? 1 : 0),
    timed_out: before.timed_out + (timed_out ? 1 : 0),
    duration_ms: before.duration_ms + event.duration_ms,
    bytes: before.bytes + event.bytes,
  });
}

function reportOf(meter: Meter, prices_as_of: string | null): UsageReport {
  const total = counts(meter.total);
  return {
    schema_version: USAGE_VERSION,
    run_id: meter.run_id,
    total_input_tokens: total.input_tokens,
    total_output_tokens: total.output_tokens,
    last_input_tokens: meter.last_input_tokens,
    total_cache_creation_input_tokens: total.cache_creation_input_tokens,
    total_cache_read_input_tokens: total.cache_read_input_tokens,
    total_thinking_tokens: total.thinking_tokens,
    ...searchesOf(meter.total),
    estimated: total.estimated,
    requests: meter.requests,
    retries: meter.retries,
    turns: meter.turns,
    cost_usd: total.cost_usd,
    prices_as_of,
    duration_ms: meter.past_ms + meter.now_ms - meter.began_ms,
    api_duration_ms: meter.api_ms,
    tool_duration_ms: meter.tool_ms,
    models: Object.fromEntries(
      [...meter.models].map(([id, { requests, turns, ...spent }]) => [id, { requests, turns, ...counts(spent) }]),
    ),
    tools: Object.fromEntries(meter.tools),
    per_turn: [...meter.rows.values()].map((row) => ({ ...row.facts, ...counts(row) })),
  };
}

/** Named only where there were any: few runs search. */
function searchesOf({ usage }: Spent): Pick<UsageReport, 'total_web_search_requests'> {
  const { web_search_requests } = usage;
  return web_search_requests > 0 ? { total_web_search_requests: web_search_requests } : {};
}

function nothing(): Spent {
  return { usage: NO_USAGE, cost_usd: 0 };
}

function spend(scope: Spent, usage: Usage, cost_usd: number | null): void {
  scope.usage = addUsage(scope.usage, usage);
  scope.cost_usd = scope.cost_usd === null || cost_usd === null ? null : scope.cost_usd + cost_usd;
}

function counts({ usage, cost_usd }: Spent): TokenCounts {
  return {
    input_tokens: promptTokens(usage),
    output_tokens: usage.output_tokens,
    cache_creation_input_tokens: usage.cache_creation_input_tokens,
    cache_read_input_tokens: usage.cache_read_input_tokens,
    thinking_tokens: usage.thinking_tokens,
    cost_usd,
    estimated: usage.estimated ?? false,
  };
}

function modelOf(meter: Meter, id: string): Spent & { requests: number; turns: number } {
  const known = meter.models.get(id) ?? { ...nothing(), requests: 0, turns: 0 };
  meter.models.set(id, known);
  return known;
}

/** A turn that failed and was asked again, after a resume for example, is one row. */
function rowOf(meter: Meter, turn: number): Row {
  const known = meter.rows.get(turn) ?? {
    ...nothing(),
    facts: { turn, model: null, stop_reason: null, request_id: null, duration_ms: 0, calls: 0, attempts: [] },
  };
  meter.rows.set(turn, known);
  return known;
}
