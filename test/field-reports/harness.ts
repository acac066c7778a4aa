// Runs a task the way a user does, against a strict stand-in of the Messages API, and checks the general rules of the
// field reports after every run.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { parseCommandLine } from '../../src/cli/arguments.ts';
import { reportFailure } from '../../src/cli/failure.ts';
import { resumeCommand, runCommand } from '../../src/cli/run-command.ts';
import { replay } from '../../src/run/replay.ts';
import { checkGeneralRules } from './general-rules.ts';
import { placeOf } from './place.ts';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Output } from '../../src/cli/streams.ts';
import type { World } from '../../src/cli/world.ts';
import type { RunEvent } from '../../src/core/events.ts';
import type { UsageReport } from '../../src/subscribers/usage-report.ts';
import type { ResultFile } from '../../src/run/result.ts';
import type { RecordedRequest } from '../helpers/messages-server/types.ts';
import type { Case, Place } from './place.ts';

/** A run that is over, and all it left. */
export interface FieldRun extends Place {
  code: number | null;
  stdout: string;
  stderr: string;
  /** When its process, or the call in this one, was over. */
  ended_at: number;
  result: ResultFile;
  usage: UsageReport;
  events: RunEvent[];
  /** The requests of this run, in order. */
  turns: RecordedRequest[];
  /** The text of a file of the run folder, undefined when there is none. */
  artifact: (name: string) => string | undefined;
}

/** Runs a case through the command line's own functions, in this process. */
export async function play(given: Case): Promise<FieldRun> {
  return playIn(await placeOf(given));
}

/** The same in a place that exists, perhaps because something ran there before. */
export async function playIn(place: Place, argv: readonly string[] = place.argv): Promise<FieldRun> {
  const text = { stdout: '', stderr: '' };
  const collect = (name: 'stdout' | 'stderr'): Output => ({
    write: (piece) => void (text[name] += piece),
    flush: async () => true,
    is_terminal: false,
    columns: () => 80,
  });
  const stdin = (async function* nothing() {})();
  const world: World = {
    env: place.env,
    cwd: place.folder,
    stdout: collect('stdout'),
    stderr: collect('stderr'),
    stdin,
  };
  const before = place.server.turns.length;
  const code = await frontDoor(argv, world);
  const run = runOf(place, { code, ...text, ended_at: Date.now() }, before);
  checkGeneralRules(run);
  await checkReplay(run);
  return run;
}

/** Whatever a run was about, its transcript says all that it takes to run it again. */
async function checkReplay({ events, run_dir }: FieldRun): Promise<void> {
  if (events[0]?.type !== 'run_start') return;
  expect(await replay({ run_dir })).toMatchObject({ divergence: null, matches: true, events: events.length });
}

async function frontDoor(argv: readonly string[], world: World): Promise<number> {
  try {
    const parsed = await parseCommandLine(argv);
    if (parsed.kind !== 'invocation') throw new Error('a case is a run');
    const act = parsed.invocation.command === 'resume' ? resumeCommand : runCommand;
    return await act(parsed.invocation, world);
  } catch (error) {
    // As src/cli/start.ts does: the caller's mistake, or a bug.
    return reportFailure(error, { argv, world });
  }
}

/** A run in a process of its own. */
export interface Running {
  place: Place;
  child: ChildProcessWithoutNullStreams;
  /** What it has written so far. */
  text: { stdout: string; stderr: string };
  /** Resolves when stdout and stderr together hold the text. */
  said(text: string): Promise<void>;
  /** The run once its process is gone, the general rules checked. */
  done: Promise<FieldRun>;
}

/** Starts a case as a real process of the bundled command line at `cli`. */
export async function begin(cli: string, given: Case): Promise<Running> {
  return beginIn(cli, await placeOf(given));
}

/** The same in a place that exists. */
export function beginIn(cli: string, place: Place, argv: readonly string[] = place.argv): Running {
  const before = place.server.turns.length;
  const child = spawn(process.execPath, [cli, ...argv], { cwd: place.folder, env: place.env });
  onTestFinished(() => void child.kill('SIGKILL'));
  const text = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
      for (const listener of listeners) listener();
    });
  }
  const done = new Promise<FieldRun>((resolve, reject) => {
    child.on('error', reject);
    // Not `close`: a child that holds the pipes must not hide that our process is gone, nor that it is not.
    child.on('exit', (code) => {
      const ended_at = Date.now();
      setTimeout(() => resolve(runOf(place, { code, ...text, ended_at }, before)), 50);
    });
  });
  const said = (wanted: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (text.stdout.includes(wanted) || text.stderr.includes(wanted)) resolve();
      };
      listeners.add(look);
      child.on('exit', (code) => reject(new Error(`ended with ${code} before "${wanted}": ${text.stderr}`)));
      look();
    });
  const checked = done.then(async (run) => {
    checkGeneralRules(run);
    await checkReplay(run);
    return run;
  });
  checked.catch(() => {}); // a test that fails before it waits for the end
  return { place, child, text, said, done: checked };
}

/** Runs a case in a process of its own to its end. */
export async function playApart(cli: string, given: Case): Promise<FieldRun> {
  const running = await begin(cli, given);
  return running.done;
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  ended_at: number;
}

/** Reads what a run left in its folder. */
export function runOf(place: Place, ended: Ended, before: number): FieldRun {
  const artifact = (name: string): string | undefined => {
    const file = join(place.run_dir, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  const parsed = (name: string): unknown => JSON.parse(artifact(name) ?? '{}');
  const lines = (artifact('transcript.jsonl') ?? '').split('\n').filter((line) => line !== '');
  return {
    ...place,
    ...ended,
    artifact,
    result: parsed('result.json') as ResultFile,
    usage: parsed('usage.json') as UsageReport,
    events: lines.map((line) => JSON.parse(line) as RunEvent),
    turns: place.server.turns.slice(before),
  };
}
