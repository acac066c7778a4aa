import type { CheckResult, OutputMode, VerifyEnd } from './events.ts';
import type { LimitHit } from './outcome.ts';

/** Every sentence the run says to a model, by occasion. */
export interface Texts {
  limitReminder(hit: LimitHit, mode: OutputMode): string;
  outputRepair(check: CheckResult, attempts_left: number): string;
  outputMissing(mode: OutputMode): string;
  emptyReply(): string;
  verifyFeedback(verify: VerifyEnd, attempts_left: number): string;
  /** Asks for a summary that the run goes on from. */
  compactionRequest(): string;
  /** Hands the summary over to the fresh conversation. */
  compactionSummary(summary: string): string;
  /** Begins the turn after the service's own summary. */
  compactionContinue(): string;
  /** Answer to a call made instead of a summary. */
  compacting(): string;
  /** Answer to a submit call. */
  submitAccepted(): string;
  submitTooEarly(prompts_left: number): string;
  onlyOneOutput(): string;
  /** Answers to calls that are not run. */
  concluding(hit: LimitHit): string;
  interrupted(): string;
  cut(reason: string): string;
  /** `tool` null: the limit of all tools together. */
  callLimit(tool: string | null, limit: number): string;
}
