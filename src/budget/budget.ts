import { activeLimits, timeReserve } from './limits.ts';
import type { Limits } from '../core/config.ts';
import type { LimitHit } from '../core/outcome.ts';
import type { Budget, Ledger, Room } from '../core/ports.ts';
import type { Prices } from '../core/usage.ts';
import type { Limit } from './limits.ts';

/** All limits of a run. Pure: every answer follows from the ledger it is given. */
export function createBudget(limits: Limits, prices: Prices | null): Budget {
  const active = activeLimits(limits, prices);
  const keepsBack = limits.on_limit !== 'stop';
  const kept = (limit: Limit, ledger: Ledger, concluding: boolean): number =>
    keepsBack && !concluding ? limit.reserve(ledger) : 0;

  return {
    exceeded(ledger, concluding) {
      for (const limit of active) {
        const used = limit.used(ledger);
        if (used + limit.next(ledger) + kept(limit, ledger, concluding) > limit.limit) {
          return { reason: limit.reason, limit: limit.limit, used };
        }
      }
      return undefined;
    },

    room(ledger, wanted, concluding) {
      let room: Room = { max_tokens: wanted };
      for (const limit of active) {
        const left = limit.limit - limit.used(ledger) - kept(limit, ledger, concluding);
        const fits = outputTokensFor(
          { reason: limit.reason, left, last_input_tokens: ledger.last_input_tokens },
          prices,
        );
        if (fits < room.max_tokens) room = { max_tokens: Math.max(1, fits), clamped_by: limit.reason };
      }
      return room;
    },

    remainingMs(ledger, concluding) {
      const reserve = keepsBack && !concluding ? timeReserve(limits.timeout_ms) : 0;
      return limits.timeout_ms - reserve - (ledger.now_ms - ledger.started_ms);
    },
  };
}

interface Rest {
  reason: LimitHit['reason'];
  left: number;
  last_input_tokens: number;
}

/** How many output tokens the rest of a budget pays for, once the prompt is paid. */
function outputTokensFor({ reason, left, last_input_tokens }: Rest, prices: Prices | null): number {
  switch (reason) {
    case 'max_output_tokens':
      return Math.floor(left);
    case 'max_total_tokens':
      return Math.floor(left - last_input_tokens);
    case 'max_cost': {
      if (!prices || prices.output === 0) return Infinity;
      return Math.floor((left * 1e6 - last_input_tokens * prices.cache_read) / prices.output);
    }
    default:
      return Infinity;
  }
}
