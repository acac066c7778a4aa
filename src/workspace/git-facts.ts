import type { GitState } from '../core/events.ts';
import type { Clock } from '../core/ports.ts';
import type { GitSetting } from './git-env.ts';

/** What git says of a workspace, asked once for runs that begin at about the same time. */
export interface GitFacts {
  drivers(workspace: string, ask: () => Promise<GitSetting[]>): Promise<GitSetting[]>;
  state(workspace: string, ask: () => Promise<GitState | null>): Promise<GitState | null>;
  /** After a run that may have changed something there, or below or around it. */
  forget(): void;
}

/** Nobody but us is told when another process commits, so no answer is used for longer. */
const FRESH_MS = 1000;

export function createGitFacts(clock: Clock): GitFacts {
  const drivers = keep<GitSetting[]>(clock);
  const state = keep<GitState | null>(clock);
  return {
    drivers: (workspace, ask) => drivers.get(workspace, ask),
    state: (workspace, ask) => state.get(workspace, ask),
    forget() {
      drivers.clear();
      state.clear();
    },
  };
}

function keep<T>(clock: Clock): { get(key: string, ask: () => Promise<T>): Promise<T>; clear(): void } {
  const known = new Map<string, { answer: Promise<T>; until_ms: number }>();
  return {
    get(key, ask) {
      const kept = known.get(key);
      if (kept && clock.now() < kept.until_ms) return kept.answer;
      const answer = ask();
      known.set(key, { answer, until_ms: clock.now() + FRESH_MS });
      // A question that failed is asked again by the next.
      answer.catch(() => known.delete(key));
      return answer;
    },
    clear: () => known.clear(),
  };
}
