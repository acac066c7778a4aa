import { expect } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { counts, effectsBy, eventsOf, RESUME_ARGV, RUN_ARGV, start } from './kill-run.ts';
import type { KillRun } from './kill-run.ts';

/** What the undisturbed run prints. */
export const OUTPUT = '{"done":true}\n';

/** What one killed run came to. */
export interface Outcome {
  /** Whole lines when it was killed; -1: it had ended before. */
  lines: number;
  /** Effects that nobody knows of whether they took place. */
  unknown: string[];
}

/** Kills a run, resumes it, and checks all that must hold whatever the moment was. */
export async function killAndResume(cli: string, run: KillRun, watch?: (kill: () => void) => void): Promise<Outcome> {
  const killed = await start(cli, run, RUN_ARGV, watch);
  const left = eventsOf(run);
  const resumed = await start(cli, run, RESUME_ARGV);
  if (left.length === 0) {
    expect(resumed.code).toBe(2);
    expect(resumed.stderr).toMatch(/nothing was begun|no run folder/);
    return { lines: 0, unknown: [] };
  }
  expect({ code: resumed.code, stdout: resumed.stdout }, resumed.stderr).toEqual({ code: 0, stdout: OUTPUT });
  const events = eventsOf(run);
  const unknown = effectsBy(events, 'interrupted');
  checkEffects(run, unknown);
  expect(await replay({ run_dir: run.run_dir })).toMatchObject({ matches: true, events: events.length });
  return { lines: killed.code === null ? left.length : -1, unknown };
}

/** No effect ran twice, and only one can be in doubt: the one that was announced last. */
function checkEffects(run: KillRun, unknown: readonly string[]): void {
  const found = counts(run);
  for (const name of run.effects) {
    const times = found.get(name) ?? 0;
    expect(times, `${name} ran`).toBeLessThanOrEqual(1);
    if (!unknown.includes(name)) expect(times, `${name}, which has a result, ran`).toBe(1);
  }
  expect(unknown.length).toBeLessThanOrEqual(1);
}
