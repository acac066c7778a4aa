import { answerText } from './answer-text.ts';
import { SUBMIT_TOOL } from '../core/ports.ts';
import { promptsLeft } from './state.ts';
import type { ToolStatus, UserMessageReason } from '../core/events.ts';
import type { AssistantBlock, ToolUseBlock } from '../core/messages.ts';
import type { ContinueReason, LimitHit, RunOutcome } from '../core/outcome.ts';
import type { Budget, Candidate, OutputGate, Texts } from '../core/ports.ts';
import type { RunState } from './state.ts';

/** What the run does next; one kind a step. */
export type Step =
  | { kind: 'say'; reason: UserMessageReason; text: string; limit?: LimitHit }
  | { kind: 'prompt'; index: number }
  | AskStep
  | { kind: 'act' }
  | { kind: 'answer'; call: ToolUseBlock; status: ToolStatus; text: string; is_error: boolean }
  | { kind: 'check'; stage: 'schema'; candidate: Candidate }
  | { kind: 'check'; stage: 'gate'; value_text: string }
  | { kind: 'verify'; index: number }
  | { kind: 'compact'; summary: string | AssistantBlock }
  | { kind: 'warn'; code: string; message: string }
  | { kind: 'end'; outcome: RunOutcome };

export interface AskStep {
  kind: 'ask';
  turn: number;
  reason: ContinueReason;
  max_tokens: number;
  clamped_by?: LimitHit['reason'];
  concluding: boolean;
  summarize?: true;
}

/** The pure parts a decision may consult; none of them changes or waits. */
export interface Advice {
  budget: Budget;
  texts: Texts;
  gate: Pick<OutputGate, 'mode' | 'has_gate'>;
  /** The most output tokens the model takes in one reply; null when unknown. */
  max_output_tokens: number | null;
  /** The size of its window; null when unknown. */
  context_tokens: number | null;
  /** The service can sum up a history by itself. */
  summarizes?: boolean;
  /** The service caches prompts and tells why it could not reuse one. */
  diagnoses_cache?: boolean;
}

/** One rule: the step it demands in this state, or undefined when it has nothing to say. */
export type Rule = (state: RunState, advice: Advice) => Step | undefined;

export function end(outcome: RunOutcome): Step {
  return { kind: 'end', outcome };
}

export function say(reason: UserMessageReason, text: string): Step {
  return { kind: 'say', reason, text };
}

export function answer(call: ToolUseBlock, status: ToolStatus, text: string, is_error = true): Step {
  return { kind: 'answer', call, status, text, is_error };
}

/** What a limit means now: a conclusion while one fits, else the end. */
export function limitStep(state: RunState, advice: Advice, hit: LimitHit): Step {
  if (state.limit_reached) return end(state.limit_reached);
  const on_limit = state.start?.task.limits.on_limit ?? 'stop';
  const fits = on_limit !== 'stop' && promptsLeft(state) === 0 && !advice.budget.exceeded(state.ledger, true);
  if (!fits) return end(hit);
  return { kind: 'say', reason: 'limit_reminder', text: advice.texts.limitReminder(hit, advice.gate.mode), limit: hit };
}

/** The next turn, with as much room as the budgets leave. */
export function ask(state: RunState, { budget, max_output_tokens }: Advice): AskStep {
  const concluding = state.limit_reached !== undefined;
  const wanted = state.max_tokens ?? state.start?.task.model.max_tokens ?? 1;
  const room = budget.room(state.ledger, Math.min(wanted, max_output_tokens ?? wanted), concluding);
  return { kind: 'ask', turn: state.ledger.turns + 1, reason: state.why, concluding, ...room };
}

/** True for the call that hands over the output; in other modes its name is just an unknown tool. */
export function submits(call: ToolUseBlock, advice: Advice): boolean {
  return advice.gate.mode === 'tool' && call.name === SUBMIT_TOOL && call.fault === undefined;
}

/** How many more outputs may still be refused. */
export function repairsLeft(state: RunState): number {
  return Math.max(0, (state.start?.task.output.repair_attempts ?? 0) + 1 - state.checks_failed);
}

/** The final text of a reply, for the rules that judge it. */
export function replyText(state: RunState): string {
  return answerText(state.reply?.content ?? [], state.start?.task.model);
}
