import { reduce } from './reduce.ts';
import type { EventBody } from '../core/events.ts';
import type { Bus, Journal } from '../core/ports.ts';
import type { RunState } from './state.ts';

/** The only way anything happens: on disk first, then in the state, then to those who watch. */
export interface Recorder {
  readonly state: RunState;
  record(body: EventBody): void;
}

export function createRecorder(journal: Journal, bus: Bus, start: RunState): Recorder {
  let state = start;
  const append = (body: EventBody): EventBody[] => {
    const event = journal.append(body);
    state = reduce(state, event);
    return bus.publish(event);
  };
  return {
    get state() {
      return state;
    },
    record(body) {
      // A subscriber that fails becomes a notice; notices about notices would never end.
      for (const notice of append(body)) append(notice);
    },
  };
}
