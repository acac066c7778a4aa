import { Lanes, type Lane } from './lanes.ts';
import type { Purse, Share } from './purse.ts';

export interface Job {
  lane: Lane;
  /** Its own cost limit in USD; null: none. */
  max_cost_usd: number | null;
}

export interface Schedule<J extends Job> {
  jobs: readonly J[];
  workers: number;
  purse: Purse;
  /** Asked before each start; true: nothing further starts. */
  stopped: () => boolean;
  /** Runs one job; what it spent in USD, null when not known. Must not throw. */
  run: (job: J, share: Share) => Promise<number | null>;
  /** Told of a job for which no money is left. */
  unpaid: (job: J) => void;
}

/** Runs the jobs in order, as many at once as workers, workspaces and money allow; the answer is what never started. */
export async function runJobs<J extends Job>(schedule: Schedule<J>): Promise<J[]> {
  const { jobs, workers, purse, stopped } = schedule;
  const pending = [...jobs];
  const running = new Set<Promise<void>>();
  const lanes = new Lanes();
  for (;;) {
    while (running.size < workers && !stopped()) {
      const next = takeNext(pending, lanes, purse);
      if (!next) break;
      if (next.share === 'empty') schedule.unpaid(next.job);
      else start(next.job, next.share);
    }
    if (running.size === 0) return pending;
    await Promise.race(running);
  }

  function start(job: J, share: Share): void {
    lanes.take(job.lane);
    const ended = toEnd(job, share).finally(() => running.delete(ended));
    running.add(ended);
  }

  async function toEnd(job: J, share: Share): Promise<void> {
    const spent_usd = await schedule.run(job, share);
    lanes.release(job.lane);
    purse.settle(share, spent_usd);
  }
}

/** The first job whose place is free and whose money is there, or for which there is none any more; out of the list. */
function takeNext<J extends Job>(
  pending: J[],
  lanes: Lanes,
  purse: Purse,
): { job: J; share: Share | 'empty' } | undefined {
  for (const [index, job] of pending.entries()) {
    if (!lanes.isFree(job.lane)) continue;
    const share = purse.take(job.max_cost_usd);
    if (share === 'wait') continue;
    pending.splice(index, 1);
    return { job, share };
  }
  return undefined;
}
