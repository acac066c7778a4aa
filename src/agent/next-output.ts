import { end, limitStep, repairsLeft, replyText, say } from './step.ts';
import { promptsLeft } from './state.ts';
import type { OutputChecked } from '../core/events.ts';
import type { RunOutcome } from '../core/outcome.ts';
import type { Advice, Step } from './step.ts';
import type { RunState } from './state.ts';

/** Once the agent says it is done: schema, then verify, then gate. */
export function checkOutput(state: RunState, advice: Advice): Step | undefined {
  const { reply, checked } = state;
  if (reply?.disposition !== 'kept' || reply.stop_reason === 'pause_turn') return undefined;
  if (state.calls.length > 0 && !checked) return undefined; // it asked for tools: not done
  if (promptsLeft(state) > 0) return nextPrompt(state, advice);
  if (!checked) return { kind: 'check', stage: 'schema', candidate: { source: 'text', text: replyText(state) } };
  if (!checked.ok) return refused(state, advice, checked);
  return verify(state, advice) ?? gate(state, advice);
}

function nextPrompt(state: RunState, advice: Advice): Step {
  const hit = advice.budget.exceeded(state.ledger, false);
  if (hit) return limitStep(state, advice, hit);
  if (replyText(state).trim() === '') return say('output_missing', advice.texts.outputMissing('text'));
  return { kind: 'prompt', index: state.prompts_said };
}

function refused(state: RunState, advice: Advice, checked: OutputChecked): Step | undefined {
  if (state.limit_reached) return end(state.limit_reached);
  const left = repairsLeft(state);
  if (left === 0) return end(noOutput(state, checked));
  if (checked.tool_use_id !== undefined) return undefined; // the call's result says what is wrong
  if (checked.kind === 'missing') return say('output_missing', advice.texts.outputMissing(advice.gate.mode));
  return say('output_repair', advice.texts.outputRepair(checked, left));
}

function noOutput(state: RunState, checked: OutputChecked): RunOutcome {
  if (checked.kind !== 'missing')
    return { reason: 'output_invalid', issues: checked.issues, attempts: state.checks_failed };
  return {
    reason: 'output_missing',
    detail: `the model ended its turn without an output, ${state.checks_failed} times`,
  };
}

function verify(state: RunState, advice: Advice): Step | undefined {
  const commands = state.start?.task.verify ?? [];
  const last = state.verified.at(-1);
  if (last && !last.ok) {
    const attempts = state.verify_log.filter((run) => run.index === last.index && !run.ok).length;
    const left = (commands[last.index]?.attempts ?? 1) - attempts;
    if (left <= 0 || state.limit_reached) {
      return end({ reason: 'verify_failed', command: last.command, exit_code: last.exit_code, attempts });
    }
    return say('verify_feedback', advice.texts.verifyFeedback(last, left));
  }
  return state.verified.length < commands.length ? { kind: 'verify', index: state.verified.length } : undefined;
}

function gate(state: RunState, advice: Advice): Step {
  const value_text = state.checked?.value_text ?? '';
  if (advice.gate.has_gate) {
    if (!state.gate_checked) return { kind: 'check', stage: 'gate', value_text };
    if (!state.gate_checked.ok) return end({ reason: 'gate_failed', issues: state.gate_checked.issues });
  }
  return end(completed(state));
}

/** `finalize_fail` keeps the output but lets the limit decide the code. */
function completed(state: RunState): RunOutcome {
  const { limit_reached } = state;
  if (!limit_reached) return { reason: 'completed' };
  return state.start?.task.limits.on_limit === 'finalize_fail' ? limit_reached : { reason: 'completed', limit_reached };
}
