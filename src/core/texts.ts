import type { CheckResult, OutputMode, VerifyEnd } from './events.ts';
import type { CallFault } from './messages.ts';
import type { LimitHit } from './outcome.ts';

/** What is said to models without tool calling, which call in free text. */
export interface ProtocolTexts {
  /** The part of the system prompt that describes the tools and how they are called. */
  tools(tools: readonly ProtocolTool[]): string;
  /** A call's result; `output` holds none of the tags. */
  toolResult(result: ProtocolResult): string;
  /** Names of tags beside our own that what comes from outside may not hold: those that a result is written with. */
  readonly tags: readonly string[];
}

export interface ProtocolTool {
  name: string;
  description: string;
  /** JSON Schema of its parameters, as text. */
  schema: string;
}

export interface ProtocolResult {
  tool: string;
  /** Which call of the reply it answers, from 1. */
  call: number;
  status: 'ok' | 'error';
  output: string;
}

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
  /** Answer to a text that begins like a call and is none. */
  callFault(fault: CallFault): string;
  cut(reason: string): string;
  /** `tool` null: the limit of all tools together. */
  callLimit(tool: string | null, limit: number): string;
}

/** Why a run has no sandbox and needs none; said of it in the transcript and the result. */
export const NO_PROCESSES = 'not needed: the task starts no process';
