import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { runAgent } from '../agent/loop.ts';
import { reduce } from '../agent/reduce.ts';
import { EMPTY_STATE, openCalls } from '../agent/state.ts';
import { UsageError } from '../core/errors.ts';
import { MCP_PREFIX } from '../core/mcp.ts';
import { mendJournal, readJournal } from '../journal/journal.ts';
import { removeStaleMarks } from '../sandbox/marks.ts';
import { listen } from './interrupts.ts';
import { refuseCommitted, staysUntrusted } from './resume-trust.ts';
import { reopenRunFolder } from './run-folder.ts';
import { runSegment } from './segment.ts';
import { dropAside, setAside } from './set-aside.ts';
import type { RunState } from '../agent/state.ts';
import type { Limits, RunConfig } from '../core/config.ts';
import type { EventBody, RunEvent, RunStart } from '../core/events.ts';
import type { CancelSignal } from '../core/outcome.ts';
import type { Subscriber } from '../core/ports.ts';
import type { Interrupts } from './interrupts.ts';
import type { Built } from './parts.ts';
import type { Env } from './place.ts';
import type { RunFolder } from './run-folder.ts';
import type { RunPlace, SegmentResult } from './segment.ts';

export interface ResumeRequest {
  run_dir: string;
  /** A follow-up in the same conversation. */
  prompt?: string;
  /** New totals; what was spent still counts. */
  limits: Partial<Limits>;
  allow_changed: boolean;
  env: Env;
  cwd?: string;
  early_signal?: () => CancelSignal | undefined;
  /** What may cut the run short; absent: the process's signals. Disposed of at the end. */
  interrupts?: Interrupts;
  /** Of a batch: the folder of all its runs, absolute. */
  results?: string;
  subscribers: (place: RunPlace) => Subscriber[];
}

/** Goes on where a run stopped, in its own folder, under its own task, policy and schema. */
export async function resume(request: ResumeRequest): Promise<SegmentResult> {
  const { env, cwd = process.cwd(), subscribers } = request;
  const interrupts = request.interrupts ?? listen(request.early_signal);
  try {
    const { folder, events, state, start } = reopen(resolve(cwd, request.run_dir));
    const config = configOf(start, request);
    if (config.untrusted) await refuseCommitted(folder.dir, env).catch(release(folder));
    if (start.runner.sandbox.active === 'bubblewrap') removeStaleMarks(start.workspace);
    const result = await runSegment({
      config,
      env,
      cwd,
      folder: { ...folder, hidden: request.results ?? folder.hidden },
      run_id: events[0]?.run_id ?? '',
      interrupts,
      subscribers,
      state,
      earlier: events,
      spent_ms: state.ledger.now_ms - state.ledger.started_ms,
      async work(recorder, built) {
        await checkHead(start, built, request.allow_changed);
        if (!interrupts.signal.aborted) checkServers(start, built); // cut, they may not have told what they offer
        if (request.prompt !== undefined) checkRoom(state);
        const follow_up = request.prompt === undefined ? {} : { prompt: request.prompt };
        begin(folder, () => recorder.record({ type: 'run_resume', limits: config.task.limits, ...follow_up }));
        for (const notice of changes(start, cwd)) recorder.record(notice);
        if (request.prompt !== undefined) followUp(recorder, request.prompt);
        return runAgent(built.parts, recorder, interrupts.signal);
      },
    });
    dropAside(folder.dir);
    return result;
  } finally {
    interrupts.dispose();
  }
}

interface Reopened {
  folder: RunFolder;
  events: RunEvent[];
  state: RunState;
  start: RunStart;
}

/** Takes the folder and reduces its transcript; a last line that a crash tore is cut off. */
function reopen(run_dir: string): Reopened {
  const folder = reopenRunFolder(run_dir, 'resume');
  const { events, torn_bytes } = readJournal(folder.transcript);
  const state = events.reduce(reduce, EMPTY_STATE);
  if (!state.start) {
    folder.release();
    throw new UsageError(
      `${run_dir}: nothing was begun in this run, so there is nothing to resume; run the task again`,
    );
  }
  mendJournal(folder.transcript, torn_bytes);
  return { folder, events, state, start: state.start };
}

function configOf(start: RunStart, { limits, env }: ResumeRequest): RunConfig {
  const task = { ...start.task, limits: { ...start.task.limits, ...limits } };
  return { task, workspace: start.workspace, untrusted: staysUntrusted(start, env) };
}

function release(folder: RunFolder): (error: unknown) => never {
  return (error) => {
    folder.release();
    throw error;
  };
}

async function checkHead(start: RunStart, { place }: Built, allowed: boolean): Promise<void> {
  const head = (await place.git.state())?.head ?? null;
  if (allowed || head === (start.git?.head ?? null)) return;
  throw new UsageError(
    `the workspace is at ${head ?? 'no commit'}, the run began at ${start.git?.head ?? 'no commit'}; check that out, or give --allow-changed`,
  );
}

/** The list of a server's tools is frozen when the run begins: the model would be told of tools that are no more. */
function checkServers({ tools }: RunStart, { parts, prompts }: Built): void {
  const served = (all: RunStart['tools']): string =>
    JSON.stringify(all.filter(({ name }) => name.startsWith(MCP_PREFIX)));
  if (served(parts.registry.definitions.map(prompts.described)) === served(tools)) return;
  throw new UsageError('the MCP servers offer other tools than when the run began; run the task again', {
    reason: 'mcp_unavailable',
  });
}

/** A task file that is not the one the run began with is told, and not used. */
function changes({ task }: RunStart, cwd: string): EventBody[] {
  if (task.file === '-' || task.ref !== null) return [];
  let sha256: string;
  try {
    sha256 = createHash('sha256')
      .update(readFileSync(resolve(cwd, task.file)))
      .digest('hex');
  } catch {
    // ENOENT: the file is gone or the folder is another; the stored task is what counts.
    return [];
  }
  if (sha256 === task.sha256) return [];
  const message = `${task.file} has changed since the run began; the run goes on with the task it began with`;
  return [{ type: 'notice', level: 'warning', code: 'task_changed', message }];
}

/** From its first line on the run has no end again: a resume that is killed must not show the old one. */
function begin({ dir }: RunFolder, record: () => void): void {
  const restore = setAside(dir);
  try {
    record();
  } catch (error) {
    restore(); // IoError: nothing was begun, so what stands in the transcript has ended as its files say
    throw error;
  }
}

/** While calls are open there is no place for a follow-up: UsageError. */
function checkRoom(state: RunState): void {
  if (openCalls(state).length === 0) return;
  throw new UsageError('the run stopped while calls were open; resume it without --prompt first');
}

/** Says a follow-up; while calls are open there is no place for one: UsageError. */
export function followUp(recorder: { state: RunState; record(body: EventBody): void }, prompt: string): void {
  checkRoom(recorder.state);
  recorder.record({ type: 'user_message', reason: 'follow_up', content: [{ type: 'text', text: prompt }] });
}
