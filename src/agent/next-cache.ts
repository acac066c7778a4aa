import type { RunState } from './state.ts';
import type { Advice, Step } from './step.ts';

/** A run only appends to what it sends, so a cache that is missed costs money for nothing: told once for each reason. */
export function cacheMissed(state: RunState, { diagnoses_cache }: Advice): Step | undefined {
  const miss = state.reply?.cache_miss;
  if (!diagnoses_cache || miss === undefined) return undefined;
  const code = `cache_${miss}`;
  return state.told.includes(code) ? undefined : { kind: 'warn', code, message: messageOf(miss, state.ledger.turns) };
}

function messageOf(miss: string, turn: number): string {
  return miss === 'nothing_read'
    ? `turn ${turn} read nothing from the prompt cache, though the prompt before it was large enough to be there; input costs more than it should`
    : `turn ${turn} missed the prompt cache, and the service says "${miss}"; input costs more than it should`;
}
