import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { UsageError } from '../../../src/core/errors.ts';
import { loadRun } from '../../../src/config/load.ts';
import { mergeOptions } from '../../../src/config/merge.ts';
import { readJournal } from '../../../src/journal/journal.ts';
import { run } from '../../../src/run/run.ts';
import { watchRun } from '../../../src/run/watchers.ts';
import type { RunEvent } from '../../../src/core/events.ts';
import type { Fixture } from './fixture.ts';

/** What became of a start of the runner. */
export interface Played {
  exit_code: number;
  /** Why nothing was started, when the task itself was refused. */
  refused: string | undefined;
  events: RunEvent[];
  stdout: string;
  /** What people read while it runs. */
  log: string;
  /** Every file of the run folder. */
  files: Record<string, string>;
  /** From start to end, as whoever started it sees it. */
  ms: number;
  /** The most memory the runner had; only known of a process of its own. */
  peak_mb: number | undefined;
}

export interface Start {
  /** The task's text; it is written beside the workspace. */
  task: string;
  /** Where the task is written; default: out of the workspace. */
  file?: string;
  env?: Record<string, string>;
  flags?: Record<string, string | boolean>;
}

export function writeTask(fixture: Fixture, { task, file }: Start): string {
  const path = file ?? join(fixture.base, 'task.json');
  writeFileSync(path, task);
  return path;
}

/** Runs a task in this process, through everything but the command line. */
export async function playHere(fixture: Fixture, start: Start): Promise<Played> {
  const began = performance.now();
  const env = { ...fixture.env, ...start.env };
  const log: string[] = [];
  const ended = (facts: Pick<Played, 'exit_code' | 'refused'>): Played => {
    const ms = performance.now() - began;
    return { ...facts, ...readRun(fixture.run_dir), stdout: '', log: log.join(''), ms, peak_mb: undefined };
  };
  try {
    const file = writeTask(fixture, start);
    const flags = { workspace: fixture.workspace, out: fixture.run_dir, ...start.flags };
    const readStdin = async () => ({ ok: false as const, reason: 'no stdin in tests' });
    const config = await loadRun({ file, options: mergeOptions(flags, env), env, cwd: fixture.base, readStdin });
    const progress = { write: (text: string) => void log.push(text), quiet: false, verbose: true, color: false };
    const result = await run({ config, env, cwd: fixture.base, subscribers: watchRun({ progress }) });
    const mistake = result.exit_code === 2 || result.outcome.reason === 'sandbox_unavailable';
    return ended({ exit_code: result.exit_code, refused: mistake ? result.message : undefined });
  } catch (error) {
    if (error instanceof UsageError) return ended({ exit_code: 2, refused: error.message });
    throw error;
  }
}

/** The events and files of a run folder, as far as there are any. */
export function readRun(run_dir: string): Pick<Played, 'events' | 'files'> {
  const transcript = join(run_dir, 'transcript.jsonl');
  const events = existsSync(transcript) ? readJournal(transcript).events : [];
  return { events, files: existsSync(run_dir) ? filesBelow(run_dir) : {} };
}

function filesBelow(root: string, at = root): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(at)) {
    const path = join(at, name);
    if (statSync(path).isDirectory()) Object.assign(found, filesBelow(root, path));
    else found[relative(root, path)] = readFileSync(path, 'utf8');
  }
  return found;
}
