import { LIMIT_REASONS } from '../core/outcome.ts';
import { parseJson } from '../core/json.ts';
import type { RunState } from '../agent/state.ts';
import type { JsonValue } from '../core/json.ts';
import type { RunOutcome } from '../core/outcome.ts';

/** The final output of a run: where it is written, its exact text, and its value. */
export interface FinalOutput {
  name: 'output.json' | 'output.md';
  text: string;
  value: JsonValue;
}

/** The output this run produced, or null. One that an ending does not vouch for (code 3, 7, a cut run) is none. */
export function finalOutput(outcome: RunOutcome, state: RunState): FinalOutput | null {
  const text = state.checked?.ok ? state.checked.value_text : undefined;
  if (text === undefined || !keepsOutput(outcome, state)) return null;
  if (state.start?.output_mode === 'text') return { name: 'output.md', text, value: text };
  const parsed = parseJson(text);
  return { name: 'output.json', text, value: parsed.ok ? parsed.value : text };
}

function keepsOutput(outcome: RunOutcome, state: RunState): boolean {
  if (outcome.reason === 'completed' || outcome.reason === 'verify_failed' || outcome.reason === 'gate_failed')
    return true;
  const limit = LIMIT_REASONS.some((reason) => reason === outcome.reason);
  // With finalize_fail the conclusion is kept and only the code says that a limit forced it.
  return limit && state.limit_reached !== undefined && state.start?.task.limits.on_limit === 'finalize_fail';
}
