import { Round } from './round.ts';
import type { ToolUseBlock } from '../core/messages.ts';
import type { Recorder } from './record.ts';
import type { DispatchParts, RoundTurn } from './round.ts';

/** tool_use blocks in, tool_end events out: through the policy, reads together and early, effects alone and in order. */
export interface Dispatch {
  /** Begins a turn, with or without early starts; whatever an earlier one left running is abandoned. */
  open(signal: AbortSignal, early: boolean): void;
  /** A block is complete while the reply still streams: a call that only reads starts now. */
  offer(block: ToolUseBlock): void;
  /** The attempt failed; its early calls belong to no reply, but what they read serves the next attempt. */
  discard(): void;
  /** Answers every open call that is not the output's. */
  settle(): Promise<void>;
  /** The run is over: ends whatever still runs and waits until it has. */
  close(): Promise<void>;
}

export function createDispatch(parts: DispatchParts, recorder: Recorder, signal: AbortSignal): Dispatch {
  let turn: RoundTurn = { signal, early: false, before: new Map() };
  let round = new Round(parts, recorder, turn);
  const ending: Promise<unknown>[] = [];
  const renew = (): void => {
    ending.push(round.abandon());
    round = new Round(parts, recorder, turn);
  };
  return {
    open(turnSignal, early) {
      turn = { signal: turnSignal, early, before: new Map() };
      renew();
    },
    offer: (block) => round.offer(block),
    discard() {
      turn = { ...turn, before: round.reads() };
      renew();
    },
    settle: () => round.settle(),
    async close() {
      await Promise.all([...ending, round.abandon()]);
    },
  };
}
