import { Round } from './round.ts';
import type { ToolUseBlock } from '../core/messages.ts';
import type { Recorder } from './record.ts';
import type { DispatchParts } from './round.ts';

/** tool_use blocks in, tool_end events out: through the policy, reads together and early, effects alone and in order. */
export interface Dispatch {
  /** Begins a turn; whatever an earlier one left running is abandoned. */
  open(signal: AbortSignal, concluding: boolean): void;
  /** A block is complete while the reply still streams: a call that only reads starts now. */
  offer(block: ToolUseBlock): void;
  /** The attempt failed; its early calls belong to no reply. */
  discard(): void;
  /** Answers every open call that is not the output's. */
  settle(): Promise<void>;
}

export function createDispatch(parts: DispatchParts, recorder: Recorder, signal: AbortSignal): Dispatch {
  let turn = { signal, concluding: false };
  let round = new Round(parts, recorder, signal, false);
  const renew = (): void => {
    round.abandon();
    round = new Round(parts, recorder, turn.signal, turn.concluding);
  };
  return {
    open(turnSignal, concluding) {
      turn = { signal: turnSignal, concluding };
      renew();
    },
    offer: (block) => round.offer(block),
    discard: renew,
    settle: () => round.settle(),
  };
}
