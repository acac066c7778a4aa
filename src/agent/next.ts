import { contextFull, summarised, summaryOfService, summaryRefused } from './next-compact.ts';
import { cacheMissed } from './next-cache.ts';
import { afterReply } from './next-reply.ts';
import { checkOutput } from './next-output.ts';
import { openCalls, promptsLeft } from './state.ts';
import { answer, ask, end, limitStep, repairsLeft, submits } from './step.ts';
import type { ModelFailure } from '../core/events.ts';
import type { LimitHit, RunOutcome } from '../core/outcome.ts';
import type { RunState } from './state.ts';
import type { Advice, Rule, Step } from './step.ts';

// The first rule that answers decides; the order is the meaning.
const RULES: readonly Rule[] = [
  alreadyEnded,
  nothingToDo,
  firstPrompt,
  summaryRefused,
  modelFailed,
  cacheMissed,
  callsInterrupted,
  callsAfterTermination,
  callsWhileConcluding,
  summaryOfService,
  summarised,
  callsToRun,
  submitted,
  policyEnded,
  afterReply,
  checkOutput,
  limitReached,
  contextFull,
];

/** The next step of a run: a function of its state alone. */
export function next(state: RunState, advice: Advice): Step {
  for (const rule of RULES) {
    const step = rule(state, advice);
    if (step) return step;
  }
  return ask(state, advice);
}

/** The steps that close an aborted run: every open call is answered, then the cause ends it. */
export function closing(state: RunState, outcome: RunOutcome, advice: Advice): Step {
  if (state.ended) return end(state.ended.outcome);
  const [call] = openCalls(state);
  if (!call) return end(outcome);
  const started = state.started.get(call.id) === 'write';
  return started
    ? answer(call, 'interrupted', advice.texts.interrupted())
    : answer(call, 'cancelled', advice.texts.cut(outcome.reason));
}

function alreadyEnded(state: RunState): Step | undefined {
  return state.ended ? end(state.ended.outcome) : undefined;
}

function nothingToDo(state: RunState): Step | undefined {
  const detail = state.start?.skip;
  return detail === undefined ? undefined : end({ reason: 'skipped', detail });
}

function firstPrompt(state: RunState): Step | undefined {
  return state.prompts_said === 0 ? { kind: 'prompt', index: 0 } : undefined;
}

function modelFailed(state: RunState, advice: Advice): Step | undefined {
  const { failure } = state;
  if (!failure) return undefined;
  if (state.limit_reached) return end(state.limit_reached);
  if (failure.kind === 'budget') return limitStep(state, advice, failure.hit);
  if (failure.kind === 'deadline' || failure.kind === 'aborted') return limitStep(state, advice, timeLimit(state));
  return end(failedOutcome(failure));
}

function failedOutcome(failure: Extract<ModelFailure, { status?: number }>): RunOutcome {
  if (failure.kind === 'context_exhausted') return { reason: 'context_exhausted', detail: failure.message };
  return {
    reason: failure.kind,
    detail: failure.message,
    ...(failure.status === undefined ? {} : { status: failure.status }),
    ...(failure.request_id === undefined ? {} : { request_id: failure.request_id }),
  };
}

function timeLimit(state: RunState): LimitHit {
  const { ledger } = state;
  return {
    reason: 'timeout',
    limit: state.start?.task.limits.timeout_ms ?? 0,
    used: ledger.now_ms - ledger.started_ms,
  };
}

/** After a crash an effect that was begun may or may not have happened; only the model can find out. */
function callsInterrupted(state: RunState, advice: Advice): Step | undefined {
  const call = openCalls(state).find((open) => state.started.get(open.id) === 'write');
  return call && answer(call, 'interrupted', advice.texts.interrupted());
}

function callsAfterTermination(state: RunState, advice: Advice): Step | undefined {
  const [call] = openCalls(state);
  if (!state.terminated) return undefined;
  if (call) return answer(call, 'refused', advice.texts.cut('denied'));
  return end({ reason: 'denied', tool: state.terminated.tool, detail: state.terminated.detail });
}

function callsWhileConcluding(state: RunState, advice: Advice): Step | undefined {
  if (!state.turn?.concluding || !state.limit_reached) return undefined;
  const call = openCalls(state).find((open) => !submits(open, advice));
  return call && answer(call, 'refused', advice.texts.concluding(state.limit_reached));
}

function callsToRun(state: RunState, advice: Advice): Step | undefined {
  return openCalls(state).some((call) => !submits(call, advice)) ? { kind: 'act' } : undefined;
}

/** The output tool's call is checked when all other calls of the turn are done; only the first one counts. */
function submitted(state: RunState, advice: Advice): Step | undefined {
  const [call, ...others] = openCalls(state);
  if (!call) return undefined;
  const other = others.at(-1);
  if (other) return answer(other, 'error', advice.texts.onlyOneOutput());
  const left = promptsLeft(state);
  if (left > 0) return answer(call, 'error', advice.texts.submitTooEarly(left));
  if (!state.checked) {
    return {
      kind: 'check',
      stage: 'schema',
      candidate: { source: 'tool', tool_use_id: call.id, input_json: call.input_json },
    };
  }
  if (state.checked.ok) return answer(call, 'ok', advice.texts.submitAccepted(), false);
  return answer(call, 'invalid', advice.texts.outputRepair(state.checked, repairsLeft(state)));
}

function policyEnded(state: RunState): Step | undefined {
  const limit = state.start?.task.limits.max_denials ?? null;
  if (limit === null || state.ledger.denials <= limit) return undefined;
  return end({ reason: 'max_denials', limit, used: state.ledger.denials });
}

function limitReached(state: RunState, advice: Advice): Step | undefined {
  const hit = advice.budget.exceeded(state.ledger, state.limit_reached !== undefined);
  return hit && limitStep(state, advice, hit);
}
