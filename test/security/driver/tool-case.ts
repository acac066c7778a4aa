import { checkProblem, leakProblem, originalsOf, type Scene } from './checks.ts';
import { closeFixture, makeFixture, type Fixture } from './fixture.ts';
import { playHere, type Played, type Start } from './play.ts';
import { setUp } from './setup.ts';
import { callOf, taskOf, turnsFor } from './task.ts';
import { treeOf } from './tree.ts';
import { verdictProblem } from './verdict.ts';
import type { SecurityCase } from './cases.ts';

export interface Ran extends Scene {
  /** What is wrong with how the case went. */
  problems: string[];
}

export type Play = (fixture: Fixture, start: Start) => Promise<Played>;

/** Sets a case up, runs its tool call through a whole run, and compares with what the case demands. */
export async function runToolCase(one: SecurityCase, play: Play = playHere): Promise<Ran> {
  const fixture = await makeFixture();
  try {
    return await playCase(one, fixture, play);
  } finally {
    closeFixture(fixture);
  }
}

async function playCase(one: SecurityCase, fixture: Fixture, play: Play): Promise<Ran> {
  await setUp(fixture, one.setup);
  const originals = originalsOf(one.check, fixture);
  const before = treeOf(fixture.workspace);
  const task = taskOf(one, turnsFor(callOf(one, fixture)));
  const played = await play(fixture, { task: JSON.stringify(task) });
  const trees = { before, after: treeOf(fixture.workspace) };
  const scene: Scene = { fixture, played, originals };
  const checks = (one.check ?? []).map((check) => checkProblem(check, scene));
  const all = [verdictProblem(one, played, trees), leakProblem(scene), ...checks];
  return { ...scene, problems: all.filter((problem) => problem !== undefined) };
}
