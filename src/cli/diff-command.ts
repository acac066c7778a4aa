// `agent-run diff RUN_A RUN_B`: two runs side by side, with thresholds that end in 9.

import { readChoice } from '../config/options.ts';
import { UsageError } from '../core/errors.ts';
import { exitCode, type RunOutcome } from '../core/outcome.ts';
import { jsonLine, logLines } from '../core/sanitise.ts';
import { compareRuns, type EndedRun } from '../reports/compare.ts';
import { compareText } from '../reports/compare-text.ts';
import { readRun } from '../reports/run-record.ts';
import { type GivenThresholds, judgeThresholds, readThresholds, type Verdict } from '../reports/thresholds.ts';
import type { Flags, Invocation } from './invocation.ts';
import { printEnding, printLines } from './failure.ts';
import { single } from './report-command.ts';
import type { World } from './world.ts';

/** Prints the comparison; 0, or 9 with the cause when run B is over a threshold. */
export async function diffCommand({ positionals, flags }: Invocation, world: World): Promise<number> {
  const [first, second] = positionals;
  if (first === undefined || second === undefined) {
    throw new UsageError(`found ${positionals.length} run folders, expected two: agent-run diff RUN_A RUN_B`);
  }
  const value = single(flags, 'format') ?? 'text';
  const format = readChoice(['text', 'json'], { value, origin: '--format' });
  const thresholds = readThresholds(thresholdFlags(flags));
  const [a, b] = [await endedRun(first, world), await endedRun(second, world)];
  const comparison = compareRuns(a, b);
  const verdicts = judgeThresholds(comparison, thresholds);
  const over = verdicts.filter(({ ok }) => !ok);
  if (format === 'json')
    world.stdout.write(`${jsonLine({ ...comparison, thresholds: verdicts, ok: over.length === 0 })}\n`);
  else world.stdout.write(logLines(compareText(comparison, verdicts)).join('\n'));
  return over.length === 0 ? 0 : overThreshold(over, world);
}

function thresholdFlags(flags: Flags): GivenThresholds {
  const names = Object.keys(flags).filter((name) => name.startsWith('max-'));
  return Object.fromEntries(names.map((name) => [name, single(flags, name)]));
}

/** A run to compare; what of its folder cannot be read but does not matter here is said on stderr. */
async function endedRun(run_dir: string, world: World): Promise<EndedRun> {
  const record = await readRun(run_dir);
  const { result, problems } = record;
  if (result === null) throw new UsageError(problems.join('; ') || `${run_dir} has no result to compare`);
  for (const problem of problems) printLines(world, `agent-run: ${problem}`);
  if (record.lost_findings !== null) printLines(world, `agent-run: ${run_dir}: ${record.lost_findings}`);
  return { ...record, result };
}

function overThreshold(over: readonly Verdict[], world: World): number {
  const outcome: RunOutcome = { reason: 'gate_failed', issues: [] };
  const message = over.map(({ name, message: text }) => `${name}: ${text}`).join('; ');
  printEnding(world, outcome, { message, next: null });
  return exitCode(outcome);
}
