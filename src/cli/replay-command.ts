// `agent-run replay RUN_DIR`: a recorded run once more, without network and key.

import { resolve } from 'node:path';
import { cutMiddle } from '../core/cut.ts';
import { mergeOptions } from '../config/merge.ts';
import { UsageError } from '../core/errors.ts';
import { exitCode, type RunOutcome } from '../core/outcome.ts';
import { jsonLine } from '../core/sanitise.ts';
import { listen } from '../run/interrupts.ts';
import { replay, type ReplayResult } from '../run/replay.ts';
import { liveTools } from '../run/replay-live.ts';
import type { AbortCause } from '../core/events.ts';
import type { Invocation } from './invocation.ts';
import type { World } from './world.ts';
import { printEnding, printLines } from './failure.ts';

/** What a value of an event is cut to on stderr; with --format json it stands whole on stdout. */
const SHOWN_BYTES = 800;

/** Plays a recorded run again; 0 when every event comes as recorded, 9 with the first that does not. */
export async function replayCommand({ positionals, flags }: Invocation, world: World): Promise<number> {
  const [given] = positionals;
  if (given === undefined) throw new UsageError('no run folder given; expected the folder of an earlier run');
  const { format, workspace } = mergeOptions(flags, world.env);
  const { env, cwd } = world;
  const run_dir = resolve(cwd, given);
  const tools = flags['tools'] ?? 'recorded';
  if (tools !== 'recorded' && tools !== 'live')
    throw new UsageError(`--tools: found ${JSON.stringify(tools)}, expected "recorded" or "live"`);
  const interrupts = listen();
  const at = workspace === undefined ? {} : { workspace: resolve(cwd, workspace) };
  const live = tools === 'live' ? liveTools({ env, cwd, run_dir, ...at }) : undefined;
  try {
    const { signal } = interrupts;
    const result = await replay({ run_dir, cwd, signal, ...(live ? { live } : {}) });
    if (format !== 'text') world.stdout.write(`${jsonLine(result)}\n`);
    return conclude(
      result,
      { run_dir: given, cause: signal.aborted ? (signal.reason as AbortCause) : undefined },
      world,
    );
  } finally {
    live?.dispose();
    interrupts.dispose();
  }
}

interface Ending {
  run_dir: string;
  /** What stopped the replay itself. */
  cause: RunOutcome | undefined;
}

function conclude(result: ReplayResult, { run_dir, cause }: Ending, world: World): number {
  const { divergence, events, recorded } = result;
  if (cause) {
    printEnding(world, cause, { message: `the replay was stopped after ${events} of ${recorded} events`, next: null });
    return exitCode(cause);
  }
  if (!divergence) {
    printLines(world, `agent-run: replay of ${run_dir}: all ${events} events are as recorded`);
    return 0;
  }
  const { seq, turn, path, expected, got } = divergence;
  const call = divergence.tool_use_id === undefined ? '' : `, call ${divergence.tool_use_id}`;
  const tool = divergence.tool === undefined ? '' : ` of ${divergence.tool}`;
  const place = `event ${seq ?? 'after the last'} (turn ${turn}${call}${tool})`;
  printLines(world, `agent-run: ${place} differs${path === '' ? '' : ` at ${path}`}`);
  printLines(world, `  expected: ${shown(expected)}\n  got:      ${shown(got)}`);
  const outcome: RunOutcome = { reason: 'gate_failed', issues: [] };
  const message = `the replay left the recording at ${place}, after ${events} of ${recorded} events`;
  printEnding(world, outcome, { message, next: null });
  return exitCode(outcome);
}

function shown(value: unknown): string {
  return cutMiddle(value === null ? 'nothing' : JSON.stringify(value), SHOWN_BYTES).text;
}
