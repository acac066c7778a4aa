import { toolUses } from '../core/messages.ts';
import { factsFor, pricesOf, summarizes } from './pricing.ts';
import { readTurns } from './recording.ts';
import type { ModelConfig } from '../core/config.ts';
import type { EventBody } from '../core/events.ts';
import type { ModelClient, SendHooks, SendResult } from '../core/ports.ts';
import type { LostCall, RecordedTurn } from './recording.ts';

/** Stands where the input of a call was not recorded; such a call's result is not known either. */
export const LOST_INPUT = '{"agent-run":"the input of this call was not recorded"}';

export interface ReplayDeps {
  /** The recorded turn that answers a request; undefined when there is none. */
  take(turn: number | undefined): RecordedTurn | undefined;
  /** Resolves when what was recorded is due, for a reply that never came: never. Absent: everything is due at once. */
  due?(event: EventBody | undefined): Promise<void>;
  /** Resolves when the calls that run have their answers. */
  answered?(): Promise<void>;
  /** Milliseconds since the epoch that prices are looked up for. */
  at_ms: number;
  /** Whether calls that no reply holds are handed out again. */
  lost_calls: boolean;
}

/** A model that says what was recorded, attempts and failures included. */
export function createReplayClient(config: ModelConfig, deps: ReplayDeps): ModelClient {
  return {
    id: config.id,
    ...factsOf(config, deps.at_ms),
    async send(request, hooks, signal) {
      const turn = deps.take(request.turn);
      if (!turn) return notRecorded(request.turn);
      const failed = await playAttempts(turn, deps, hooks);
      if (failed) return failed;
      return playEnd(turn, { deps, hooks, signal });
    },
  };
}

/** A model for provider `replay`: plays the reply of each turn of `config.replay`, as far as they go. */
export function createRecordedClient(config: ModelConfig, at_ms: number): ModelClient {
  const answers = new Map<number, RecordedTurn>();
  // These were read from a transcript's lines by their type; a turn that was asked again counts with its last answer.
  const events = (config.replay?.events ?? []) as unknown as EventBody[];
  for (const turn of readTurns(events)) {
    if (turn.end && isOwnAnswer(turn.end)) answers.set(turn.turn, turn);
  }
  let asked = 0;
  return createReplayClient(config, {
    take(turn) {
      asked = turn ?? asked + 1;
      return answers.get(asked);
    },
    at_ms,
    lost_calls: false,
  });
}

/** What ended a recorded turn from outside (a signal, a limit) is no answer of the model. */
function isOwnAnswer(end: NonNullable<RecordedTurn['end']>): boolean {
  return end.type === 'model_reply' || !['aborted', 'deadline', 'budget'].includes(end.kind);
}

async function playAttempts(turn: RecordedTurn, deps: ReplayDeps, hooks: SendHooks): Promise<SendResult | undefined> {
  for (const { event, lost } of turn.attempts) {
    if (deps.lost_calls) offerLost(lost, hooks);
    await deps.due?.(event);
    if (lost.some(({ input_json }) => input_json !== undefined)) await deps.answered?.();
    if (lost.length > 0) hooks.onDiscard();
    const { type: _type, turn: _turn, ...attempt } = event;
    hooks.onAttempt(attempt);
    const hit = event.wait_ms === undefined ? undefined : hooks.admit();
    if (hit) {
      const message = `no further attempt fits the budget; ${event.message}`;
      return { ok: false, kind: 'budget', message, hit };
    }
  }
  return undefined;
}

interface Playing {
  deps: ReplayDeps;
  hooks: SendHooks;
  signal: AbortSignal;
}

async function playEnd({ end, lost }: RecordedTurn, { deps, hooks, signal }: Playing): Promise<SendResult> {
  if (end?.type === 'model_reply') {
    if (signal.aborted && !deps.due) return { ok: false, kind: 'aborted', message: 'the run was stopped' };
    for (const call of toolUses(end.content)) hooks.onBlock(call);
    await deps.due?.(end);
    const { type: _type, turn: _turn, ...reply } = end;
    return { ok: true, ...reply };
  }
  if (deps.lost_calls) offerLost(lost, hooks);
  await deps.due?.(end);
  if (!end) return { ok: false, kind: 'aborted', message: 'the recorded run stopped here' };
  const { type: _type, turn: _turn, ...failure } = end;
  return { ok: false, ...failure };
}

function offerLost(lost: readonly LostCall[], hooks: SendHooks): void {
  for (const { id, name, input_json = LOST_INPUT } of lost) hooks.onBlock({ type: 'tool_use', id, name, input_json });
}

function notRecorded(turn: number | undefined): SendResult {
  const message = `the recorded run has no reply for turn ${turn ?? 'unknown'}`;
  return { ok: false, kind: 'api_error', message };
}

/** What the model's own client said of itself. */
function factsOf(
  config: ModelConfig,
  at_ms: number,
): Pick<
  ModelClient,
  'prices' | 'prices_as_of' | 'max_output_tokens' | 'context_tokens' | 'summarizes' | 'diagnoses_cache'
> {
  const facts = factsFor(config.provider, config.id);
  const own = pricesOf(config, at_ms);
  // A fallback without a price leaves the run without one, see fallback.ts.
  const priced = [config, ...config.fallback].every((model) => pricesOf(model, at_ms).prices !== null);
  return {
    prices: priced ? own.prices : null,
    prices_as_of: priced ? own.prices_as_of : null,
    max_output_tokens: facts?.max_output_tokens ?? null,
    context_tokens: facts?.context_tokens ?? null,
    summarizes: [config, ...config.fallback].every(summarizes),
    diagnoses_cache: [config, ...config.fallback].every(({ claude_api }) => claude_api === true),
  };
}
