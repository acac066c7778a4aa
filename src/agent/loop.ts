import { NO_USAGE } from '../core/usage.ts';
import { exitCode } from '../core/outcome.ts';
import { createDispatch } from './dispatch.ts';
import { closing, next } from './next.ts';
import { promptBlocks, restartBlocks } from './prompt.ts';
import type { AbortCause, EventBody } from '../core/events.ts';
import type { AssistantBlock } from '../core/messages.ts';
import type { RunOutcome } from '../core/outcome.ts';
import type { ModelClient, ModelRequest, OutputGate, RunVerify } from '../core/ports.ts';
import type { Dispatch } from './dispatch.ts';
import type { Recorder } from './record.ts';
import type { DispatchParts } from './round.ts';
import type { RunState } from './state.ts';
import type { AskStep, Step } from './step.ts';

/** Everything a run is made of; put together in run/parts.ts. */
export interface Parts extends DispatchParts {
  model: ModelClient;
  gate: OutputGate;
  verify: RunVerify;
  /** Aborts when the time for ordinary turns is over and only the conclusion is left. */
  ordinary: AbortSignal;
  /** The one line that explains an ending. */
  explain(outcome: RunOutcome, state: RunState): string;
}

/** Runs from any state to its end: what comes next is decided by the state alone, and recorded before it happens. */
export async function runAgent(parts: Parts, recorder: Recorder, signal: AbortSignal): Promise<RunOutcome> {
  const ordinary = AbortSignal.any([signal, parts.ordinary]);
  const dispatch = createDispatch(parts, recorder, ordinary);
  try {
    return await runSteps(parts, recorder, dispatch, { signal, ordinary });
  } finally {
    await dispatch.close();
  }
}

interface Signals {
  signal: AbortSignal;
  /** Also aborts when only the conclusion is left. */
  ordinary: AbortSignal;
}

async function runSteps(
  parts: Parts,
  recorder: Recorder,
  dispatch: Dispatch,
  { signal, ordinary }: Signals,
): Promise<RunOutcome> {
  for (;;) {
    const { state } = recorder;
    const step = signal.aborted ? closing(state, causeOf(signal), parts) : next(state, parts);
    if (step.kind === 'end') {
      if (!state.ended) recorder.record(runEnd(parts, state, step.outcome));
      return step.outcome;
    }
    if (step.kind === 'ask')
      await ask(parts, recorder, dispatch, { step, signal: step.concluding ? signal : ordinary });
    else if (step.kind === 'act') await act(recorder, dispatch);
    else {
      const event = await perform(parts, state, step, signal);
      if (event) recorder.record(event);
    }
  }
}

interface Asking {
  step: AskStep;
  signal: AbortSignal;
}

/** One turn of the model; its calls that only read may start before it ends. */
async function ask(parts: Parts, recorder: Recorder, dispatch: Dispatch, { step, signal }: Asking): Promise<void> {
  const { kind: _kind, ...turn } = step;
  recorder.record({ type: 'turn_start', ...turn });
  dispatch.open(signal, !step.concluding && !sumsUp(recorder.state));
  const result = await parts.model.send(
    requestOf(parts, recorder.state),
    {
      onBlock: (block) => dispatch.offer(block),
      onDiscard: () => dispatch.discard(),
      onAttempt: (attempt) =>
        recorder.record({ type: 'attempt', turn: step.turn, ...attempt, message: parts.redact(attempt.message) }),
      admit: () => parts.budget.exceeded(recorder.state.ledger, step.concluding),
    },
    signal,
  );
  if (result.ok) {
    const { ok: _ok, ...reply } = result;
    recorder.record({ type: 'model_reply', turn: step.turn, ...reply });
  } else {
    dispatch.discard();
    const { ok: _ok, ...failure } = result;
    recorder.record({ type: 'model_failed', turn: step.turn, ...failure, message: parts.redact(failure.message) });
  }
  if (recorder.state.calls.length > 0) return;
  dispatch.discard(); // a reply that is dropped takes its early calls with it
  recorder.record({ type: 'turn_end', turn: step.turn, calls: 0 });
}

async function act(recorder: Recorder, dispatch: Dispatch): Promise<void> {
  await dispatch.settle();
  const { ledger, calls } = recorder.state;
  recorder.record({ type: 'turn_end', turn: ledger.turns, calls: calls.length });
}

type Single = Exclude<Step, { kind: 'end' | 'ask' | 'act' }>;

/** A step that is one event; undefined when the run's end cut it, so that it is taken again when the run goes on. */
async function perform(
  parts: Parts,
  state: RunState,
  step: Single,
  signal: AbortSignal,
): Promise<EventBody | undefined> {
  switch (step.kind) {
    case 'prompt': {
      const content = state.start ? promptBlocks(state.start, step.index) : [];
      return { type: 'user_message', reason: step.index === 0 ? 'prompt' : 'next_prompt', content };
    }
    case 'say': {
      const limit = step.limit ? { limit: step.limit } : {};
      return { type: 'user_message', reason: step.reason, content: [{ type: 'text', text: step.text }], ...limit };
    }
    case 'answer': {
      const { call, status, text, is_error } = step;
      const content = [{ type: 'text' as const, text }];
      const facts = { status, is_error, duration_ms: 0, bytes: Buffer.byteLength(text) };
      return { type: 'tool_end', tool_use_id: call.id, name: call.name, content, ...facts };
    }
    case 'compact':
      return compacted(parts, state, step.summary);
    case 'warn':
      return { type: 'notice', level: 'warning', code: step.code, message: step.message };
    case 'check': {
      if (step.stage === 'gate')
        return { type: 'output_checked', stage: 'gate', ...(await parts.gate.gate(step.value_text)) };
      const { candidate } = step;
      const call = candidate.source === 'tool' ? { tool_use_id: candidate.tool_use_id } : {};
      const attempt = state.checks_failed + 1;
      return { type: 'output_checked', stage: 'schema', attempt, ...call, ...(await parts.gate.check(candidate)) };
    }
    case 'verify':
      return verified(parts, state, step.index, signal);
  }
}

/** What a verify command found. One that the run's own end cut has found nothing, whatever code it ended with. */
async function verified(
  parts: Parts,
  { start }: RunState,
  index: number,
  signal: AbortSignal,
): Promise<EventBody | undefined> {
  const command = start?.task.verify[index];
  if (!command) throw new Error(`there is no verify command ${index}`);
  const found = await parts.verify(command, signal);
  return signal.aborted && !found.ok ? undefined : { type: 'verify_end', index, ...found };
}

/** The fresh conversation: the task told again, after the service's summary or with the model's own. */
function compacted({ texts }: Parts, { start, later_prompt }: RunState, summary: string | AssistantBlock): EventBody {
  const task = start ? restartBlocks(start, later_prompt) : [];
  const inWords = typeof summary === 'string';
  const text = inWords ? texts.compactionSummary(summary) : texts.compactionContinue();
  const said = { summary: [...task, { type: 'text' as const, text }], usage: NO_USAGE, cost_usd: 0 };
  return { type: 'compacted', ...(inWords ? {} : { blocks: [summary] }), ...said };
}

function requestOf(parts: Parts, state: RunState): ModelRequest {
  return {
    turn: state.ledger.turns + 1,
    system: state.start?.system ?? '',
    tools: state.start?.tools ?? [],
    messages: state.messages,
    max_tokens: state.turn?.max_tokens ?? 1,
    ...(state.turn?.summarize ? { summarize: true as const } : {}),
    // A summary is asked for without the output's schema, so there is nothing to compare it with.
    ...(sumsUp(state) ? {} : { previous_message_id: state.last_message_id ?? null }),
    // A summary is plain text; bound to the output's schema it would be a made-up output instead.
    ...(parts.gate.native_schema === undefined || sumsUp(state) ? {} : { output_schema: parts.gate.native_schema }),
  };
}

/** What is asked for now is a summary, by the model or by the service. */
function sumsUp({ compacting, turn }: RunState): boolean {
  return compacting || turn?.summarize === true;
}

function causeOf(signal: AbortSignal): RunOutcome {
  return signal.reason as AbortCause; // run/run.ts aborts with nothing else
}

function runEnd(parts: Parts, state: RunState, outcome: RunOutcome): EventBody {
  return { type: 'run_end', outcome, exit_code: exitCode(outcome), message: parts.explain(outcome, state) };
}
