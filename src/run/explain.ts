import { logLine } from '../core/sanitise.ts';
import { showMany } from '../core/figures.ts';
import { limitText } from '../subscribers/limit-text.ts';
import { oneLine } from '../subscribers/one-line.ts';
import type { RunState } from '../agent/state.ts';
import type { OutputIssue, RunOutcome } from '../core/outcome.ts';

/** The longest explanation; what a service answers can be a whole page. */
const LONGEST = 600;

/** One line, safe for a CI log and without a stack: why the run ended this way, with the values that decided. */
export function explain(outcome: RunOutcome, state: RunState): string {
  return logLine(oneLine(`${cause(outcome, state)}${denials(outcome, state)}`, LONGEST));
}

function cause(outcome: RunOutcome, state: RunState): string {
  switch (outcome.reason) {
    case 'completed':
      return outcome.limit_reached ? `completed, concluding early: ${limitText(outcome.limit_reached)}` : 'completed';
    case 'skipped':
      return `skipped: ${outcome.detail}`;
    case 'internal_error':
      return `a bug in agent-run: ${outcome.detail}`;
    case 'io_error':
    case 'config_error':
    case 'mcp_unavailable':
    case 'sandbox_unavailable':
    case 'output_missing':
    case 'context_exhausted':
      return outcome.detail;
    case 'output_invalid':
      return `the output does not match ${schemaName(state)} after ${showMany(outcome.attempts, 'attempt')}: ${issuesText(outcome.issues)}`;
    case 'truncated':
      return `the model's replies were cut in ${showMany(outcome.attempts, 'turn')} in a row, the last at max_tokens ${outcome.max_tokens}`;
    case 'max_denials':
      return `max_denials reached: limit ${outcome.limit}, denied ${outcome.used}`;
    case 'denied':
      return `${outcome.tool} was denied and its on_denied is "fail": ${outcome.detail}`;
    case 'refused':
      return `the model refused (${outcome.category ?? 'no category given'})${outcome.explanation ? `: ${outcome.explanation}` : ''}`;
    case 'verify_failed':
      return `verify command \`${outcome.command}\` still fails (exit code ${outcome.exit_code ?? 'none'}) after ${showMany(outcome.attempts, 'attempt')}`;
    case 'gate_failed':
      return `the output is valid and the gate says no: ${issuesText(outcome.issues)}`;
    case 'cancelled':
      return `cancelled by ${outcome.signal}`;
    case 'api_error':
    case 'auth_error':
    case 'rate_limited':
      return serviceText(outcome);
    default:
      return limitText(outcome);
  }
}

/** How many issues a line names; the rest stands in the result. */
const ISSUES_SHOWN = 2;

function issuesText(issues: readonly OutputIssue[]): string {
  const shown = issues.slice(0, ISSUES_SHOWN).map(({ pointer, message }) => `${pointer || '(root)'}: ${message}`);
  const more = issues.length - shown.length;
  return `${shown.join('; ') || 'no detail given'}${more > 0 ? `; ${more} more` : ''}`;
}

function schemaName(state: RunState): string {
  return state.start?.task.output.schema_file ?? 'the output schema';
}

function serviceText(outcome: Extract<RunOutcome, { status?: number }>): string {
  const { detail, status, request_id } = outcome;
  const facts = [
    ...(status === undefined || detail.includes(String(status)) ? [] : [`status ${status}`]),
    ...(request_id === undefined || detail.includes(request_id) ? [] : [`request id ${request_id}`]),
  ];
  return facts.length > 0 ? `${detail} (${facts.join(', ')})` : detail;
}

/** A call that was denied explains more often than not why an answer is thin, so no ending keeps it quiet. */
function denials(outcome: RunOutcome, state: RunState): string {
  const [first] = state.denied;
  if (!first || outcome.reason === 'denied') return '';
  return `; ${showMany(state.denied.length, 'call')} denied, first ${first.tool}: ${oneLine(first.reason, 120)}`;
}
