import type { PageCarried } from './page-data.ts';

const MAX_ROWS = 200;
/** Beyond this many texts the rest is not followed one by one. */
const MAX_FOLLOWED = 200_000;

export interface CarriedLog {
  /** Something that every request from now on carries. */
  add(item: Omit<PageCarried, 'turns'>): void;
  /** A request went out. */
  turn(): void;
  /** The history was replaced: what was carried so far is carried no more. `fixed` groups stay. */
  forget(): void;
  /** The heaviest first, and how many rows are summed up in none of them. */
  rows(): { carried: PageCarried[]; left_out: number };
}

/** What stays in a conversation whatever happens to its history. */
export const FIXED_GROUP = 'instructions and tools';

/** Counts with how many requests each text went along: that, times its size, is where the tokens went. */
export function createCarriedLog(): CarriedLog {
  let turns = 0;
  let live: { item: Omit<PageCarried, 'turns'>; since: number }[] = [];
  const done: PageCarried[] = [];
  const finish = (keep: (group: string) => boolean): void => {
    for (const { item, since } of live) if (!keep(item.group)) done.push({ ...item, turns: turns - since });
    live = live.filter(({ item }) => keep(item.group));
  };
  return {
    add(item) {
      if (item.bytes > 0 && live.length + done.length < MAX_FOLLOWED) live.push({ item, since: turns });
    },
    turn() {
      turns += 1;
    },
    forget: () => finish((group) => group === FIXED_GROUP),
    rows() {
      finish(() => false);
      const weight = ({ bytes, turns: carried }: PageCarried): number => bytes * carried;
      const sorted = done.filter((row) => weight(row) > 0).sort((a, b) => weight(b) - weight(a));
      return { carried: summed(sorted), left_out: Math.max(0, sorted.length - MAX_ROWS) };
    },
  };
}

/** Rows beyond the longest list are one row a group, so that the shares still add up. */
function summed(sorted: readonly PageCarried[]): PageCarried[] {
  const rest = new Map<string, PageCarried>();
  for (const { group, bytes, turns } of sorted.slice(MAX_ROWS)) {
    const before = rest.get(group)?.bytes ?? 0;
    rest.set(group, { group, label: 'smaller ones', bytes: before + bytes * turns, turns: 1, entry: -1 });
  }
  return [...sorted.slice(0, MAX_ROWS), ...rest.values()];
}
