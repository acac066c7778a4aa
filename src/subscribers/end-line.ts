import { exitCode } from '../core/outcome.ts';
import { showCount, showMany, showSpan, showUsd } from '../core/figures.ts';
import type { ExitReason, RunOutcome } from '../core/outcome.ts';
import type { Line } from './line.ts';
import type { UsageReport } from './usage-report.ts';

export interface Ending {
  outcome: RunOutcome;
  /** The explanation of the outcome. */
  message: string;
  /** Absent: the run ended before it had one. */
  transcript?: string;
  /** The line of the transcript that shows the cause. */
  line?: number;
  /** Absent: nothing was spent. */
  usage?: UsageReport;
  next(outcome: RunOutcome): string | null;
}

/** The last line of a run: how it ended and why, where that stands, what it used, and what to type next. */
export function endLines(ending: Ending): Line[] {
  const { outcome, message, transcript, line, usage } = ending;
  const code = exitCode(outcome);
  const next = ending.next(outcome);
  const parts = [
    `agent-run: ${outcome.reason} (exit ${code})${afterReason(outcome.reason, message)}`,
    ...(transcript === undefined ? [] : [`at ${transcript}${line === undefined ? '' : `:${line}`}`]),
    `spent ${usage ? spentText(usage) : 'nothing'}`,
    ...(code === 0 || next === null ? [] : [`next: ${next}`]),
  ];
  return [{ level: code === 0 ? 'end' : 'error', text: parts.join(' | ') }];
}

/** "3 turns, 12,345 tokens in, 678 out, $0.0123, 4.2 s". */
export function spentText(usage: UsageReport): string {
  return [
    showMany(usage.turns, 'turn'),
    `${showCount(usage.total_input_tokens)} tokens in, ${showCount(usage.total_output_tokens)} out${usage.estimated ? ' (estimated)' : ''}`,
    showUsd(usage.cost_usd),
    showSpan(usage.duration_ms),
  ].join(', ');
}

/** The explanation behind its reason, which is not said twice: ": turn limit reached", "; 1 call denied" or "". */
export function afterReason(reason: ExitReason, message: string): string {
  if (message === reason) return '';
  const rest = message.startsWith(reason) ? message.slice(reason.length) : '';
  return /^[,;:] /.test(rest) ? rest : `: ${message}`;
}
