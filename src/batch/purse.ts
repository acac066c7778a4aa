/** Money that several runs share: what a run may spend is reserved before it starts, so all together stay within the total. */
export interface Purse {
  /** Reserves for a run with a limit of its own, null being none; 'wait' for what others may give back, or 'empty'. */
  take(own: number | null): Share | 'wait' | 'empty';
  /** Ends a reservation with what was spent; null, not known, counts as all of it. */
  settle(share: Share, spent_usd: number | null): void;
  /** What was spent before this batch went on. */
  spend(usd: number): void;
  readonly spent_usd: number;
}

/** The cost limit a run gets; null: none. */
export interface Share {
  limit_usd: number | null;
}

/** What floating point leaves of nothing. */
const DUST = 1e-9;

export function createPurse(total_usd: number | undefined): Purse {
  let spent = 0;
  let reserved = 0;
  const take: Purse['take'] = (own) => {
    if (total_usd === undefined) return { limit_usd: own };
    const left = total_usd - spent - reserved;
    const limit_usd = Math.min(own ?? Infinity, left);
    // Less than it wants is given only when nobody can give anything back.
    if (limit_usd < (own ?? total_usd - spent) - DUST && reserved > DUST) return 'wait';
    if (limit_usd <= DUST) return 'empty';
    reserved += limit_usd;
    return { limit_usd };
  };
  return {
    take,
    settle({ limit_usd }, spent_usd) {
      spent += spent_usd ?? limit_usd ?? 0;
      if (total_usd !== undefined) reserved = Math.max(0, reserved - (limit_usd ?? 0));
    },
    spend(usd) {
      spent += usd;
    },
    get spent_usd() {
      return spent;
    },
  };
}
