import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { tempFolder } from '../helpers/temp.ts';
import { killAndResume, OUTPUT } from './kill-check.ts';
import { counts, eventsOf, RUN_ARGV, start, writeKillRun } from './kill-run.ts';
import type { Outcome } from './kill-check.ts';
import type { Ended } from './kill-run.ts';

/** Random points; `npm run experiment:kill` asks for more of them. */
const POINTS = Number(process.env['AGENT_RUN_KILL_POINTS'] || 12);
const SECONDS_A_POINT = 15;
const cli = useCli();

async function undisturbed(): Promise<Ended> {
  const run = writeKillRun(tempFolder());
  const ended = await start(cli.path(), run, RUN_ARGV);
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 0, stdout: OUTPUT });
  expect([...counts(run).entries()]).toEqual(run.effects.map((name) => [name, 1]));
  expect(eventsOf(run).filter(({ type }) => type === 'model_reply')).toHaveLength(20);
  return ended;
}

describe('a run that is killed', () => {
  test(
    `at any of ${POINTS} random moments ends as the undisturbed one, no effect twice`,
    { timeout: POINTS * SECONDS_A_POINT * 1000 },
    async () => {
      const [cold, warm] = [await undisturbed(), await undisturbed()];
      const ms = Math.min(cold.ms, warm.ms);
      const outcomes: Outcome[] = [];
      for (let point = 0; point < POINTS; point += 1) {
        // Spread evenly, so that few points already cover the whole run; little of the time before it.
        const share = 0.2 + (0.8 * (point + Math.random())) / POINTS;
        const delay = ms * share;
        const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agent-run-kill-')));
        outcomes.push(await killAndResume(cli.path(), writeKillRun(folder), (kill) => setTimeout(kill, delay)));
        rmSync(folder, { recursive: true, force: true });
      }
      report(outcomes, ms);
      expect(outcomes.some(({ lines }) => lines > 0)).toBe(true);
    },
  );
});

function report(outcomes: readonly Outcome[], ms: number): void {
  const begun = outcomes.filter(({ lines }) => lines > 0);
  const figures = {
    points: outcomes.length,
    undisturbed_ms: ms,
    before_run_start: outcomes.filter(({ lines }) => lines === 0).length,
    while_running: begun.length,
    after_the_end: outcomes.filter(({ lines }) => lines < 0).length,
    distinct_lines: new Set(begun.map(({ lines }) => lines)).size,
    effects_unknown: outcomes.reduce((sum, { unknown }) => sum + unknown.length, 0),
  };
  process.stdout.write(`kill experiment: ${JSON.stringify(figures)}\n`);
}
