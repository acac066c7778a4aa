import { errorText } from '../core/errors.ts';
import type { EventBody } from '../core/events.ts';
import type { Bus, Subscriber } from '../core/ports.ts';

/** Ordered fan-out; a subscriber that throws is reported as a notice and the others still hear the event. */
export function createBus(subscribers: readonly Subscriber[]): Bus {
  return {
    publish(event) {
      const notices: EventBody[] = [];
      for (const subscriber of subscribers) {
        try {
          subscriber.onEvent(event);
        } catch (error) {
          // Whatever a subscriber does wrong must not end the run.
          const message = `${subscriber.name} failed on ${event.type}: ${errorText(error)}`;
          notices.push({ type: 'notice', level: 'warning', code: 'subscriber_failed', message });
        }
      }
      return notices;
    },
  };
}
