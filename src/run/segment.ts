import { createRecorder } from '../agent/record.ts';
import { timeReserve } from '../budget/limits.ts';
import { IoError, UsageError, errorText, usageOutcome } from '../core/errors.ts';
import { mapStrings } from '../core/map-strings.ts';
import { exitCode } from '../core/outcome.ts';
import { openJournal } from '../journal/journal.ts';
import { createBus } from '../subscribers/bus.ts';
import { createUsageMeter } from '../subscribers/usage-meter.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { canChangeFiles } from './effects.ts';
import { credentialsAdvice } from './credentials-advice.ts';
import { explain } from './explain.ts';
import { finish, finishAtOnce } from './finish.ts';
import { nextCommand } from './next-command.ts';
import { createOutputStore, storedOutputs } from './output-store.ts';
import { buildParts, redactorFor } from './parts.ts';
import { createServerLog } from './servers.ts';
import { startTracing } from './telemetry.ts';
import type { Recorder } from '../agent/record.ts';
import type { RunState } from '../agent/state.ts';
import type { RunConfig } from '../core/config.ts';
import type { AbortCause, EventBody, RunEvent } from '../core/events.ts';
import type { RunOutcome } from '../core/outcome.ts';
import type { Bus, Subscriber } from '../core/ports.ts';
import type { JournalFile } from '../journal/journal.ts';
import type { Redactor } from '../journal/redact.ts';
import type { GitFacts } from '../workspace/git-facts.ts';
import type { Finished, FinishFacts } from './finish.ts';
import type { Interrupts } from './interrupts.ts';
import type { Built, PartsOptions } from './parts.ts';
import type { Env, Place } from './place.ts';
import type { RunFolder } from './run-folder.ts';

/** What those who watch a run may want to name. */
export interface RunPlace {
  run_dir: string;
  transcript: string;
  /** What earlier segments of a run that goes on have told already. */
  earlier: readonly RunEvent[];
  /** The command to try after an ending; null: nothing. */
  next: (outcome: RunOutcome) => string | null;
}

/** One stretch of a run, from its first event to its `run_end`: a new run, or one that goes on. */
export interface Segment {
  config: RunConfig;
  /** The task and its options as they were typed; absent: the task alone is suggested. */
  words?: string;
  env: Env;
  cwd: string;
  folder: RunFolder;
  run_id: string;
  interrupts: Interrupts;
  facts?: GitFacts | undefined;
  subscribers: (place: RunPlace) => Subscriber[];
  /** Hears of secrets that come up in mid-run, before they are used. */
  onSecret?: ((value: string) => void) | undefined;
  /** Where it begins; the events that led there are heard again by those who count. */
  state: RunState;
  earlier: readonly RunEvent[];
  /** Milliseconds that earlier segments have used of the run's time. */
  spent_ms: number;
  /** Records what begins the segment and runs the agent. */
  work: (recorder: Recorder, built: Built, options: PartsOptions) => Promise<RunOutcome>;
}

export interface SegmentResult extends Finished {
  run_dir: string;
  /** What an `internal_error` came from, for the front door to print. */
  fault?: unknown;
  /** What went wrong beside the run and changes nothing of it, for people. */
  remark?: string;
}

/** Runs a segment to its artifacts; whatever goes wrong inside becomes an outcome. */
export async function runSegment(segment: Segment): Promise<SegmentResult> {
  const { config, folder, interrupts, earlier } = segment;
  const started_ms = SYSTEM_CLOCK.now();
  const journal = openJournal(folder.transcript, segment.run_id, SYSTEM_CLOCK, earlier.at(-1)?.seq ?? 0);
  const meter = createUsageMeter();
  for (const event of earlier) meter.onEvent(event);
  const next = nextAfter(segment, () => recorder.state);
  const { dir: run_dir, transcript } = folder;
  const watchers = segment.subscribers({ run_dir, transcript, earlier, next });
  const redactor = redactorFor(config.task, segment.env);
  const tracing = await startTracing(segment.env, redactor.redact);
  const bus = createBus([meter, ...watchers, ...(tracing ? [tracing.subscriber] : [])]);
  const recorder = createRecorder(journal, bus, segment.state);
  const held: Held = {};
  const inside = { segment, redactor, recorder, held, journal, bus };
  const factsOf = (outcome: RunOutcome): FinishFacts => ({
    config,
    run_dir,
    run_id: segment.run_id,
    state: recorder.state,
    outcome,
    usage: meter.report(held.built?.parts.model.prices_as_of),
    started_ms: Date.parse(earlier[0]?.time ?? new Date(started_ms).toISOString()),
    finished_ms: SYSTEM_CLOCK.now(),
    next: next(outcome),
    patch: () => patchOf(held, outcome),
    dispose: () => held.built?.dispose(),
  });
  interrupts.atOnce(() => finishAtOnce(factsOf(endAtOnce(inside))));
  const outcome = await toOutcome(inside);
  const finished = await finish(factsOf(outcome));
  interrupts.atOnce(null);
  if (finished.outcome !== outcome) recordEnd(inside, finished.outcome);
  journal.close();
  folder.release();
  const untraced = await tracing?.close(interrupts.signal.aborted ? 300 : TRACING_MS);
  const fault = held.fault ?? interrupts.fault();
  const remark = [...finished.lost, ...(untraced === undefined ? [] : [untraced])].join('; ') || undefined;
  return { ...finished, run_dir, ...defined('fault', fault), ...defined('remark', remark) };
}

/** The process ends within 2 s of writing result.json (contract, section 1), whatever a collector does. */
const TRACING_MS = 1000;

function defined<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [key in K]?: V }); // exactly the one key of the type
}

/** The outcome of a run that a second signal cuts: what it had decided already, else the first cause. */
function endAtOnce(inside: Inside): RunOutcome {
  const { ended } = inside.recorder.state;
  if (ended) return ended.outcome;
  const cause = inside.segment.interrupts.signal.reason as AbortCause; // run/interrupts.ts aborts with nothing else
  recordEnd(inside, cause);
  return cause;
}

interface Held {
  built?: Built;
  snapshot?: string | null;
  fault?: unknown;
}

interface Inside {
  segment: Segment;
  redactor: Redactor;
  recorder: Recorder;
  held: Held;
  journal: JournalFile;
  bus: Bus;
}

async function work({ segment, recorder, held, redactor }: Inside): Promise<RunOutcome> {
  const { config, interrupts } = segment;
  const { timeout_ms, on_limit } = config.task.limits;
  interrupts.startDeadline(timeout_ms, segment.spent_ms, on_limit === 'stop' ? 0 : timeReserve(timeout_ms));
  const options = partsOptions(segment, redactor);
  options.beforeServers = async (place) => {
    held.snapshot = canChangeFiles(config) ? await startingTree(segment, place) : null;
  };
  options.notify = (code, message) => recordNotice({ recorder, segment }, code, message);
  held.built = await buildParts(options);
  try {
    return await segment.work(recorder, held.built, options);
  } finally {
    await held.built.stop(); // before the changes are told: nothing of the run goes on then
  }
}

/** Only between the first and the last line of a segment: whoever tells of something waits for neither. */
function recordNotice({ recorder, segment }: Pick<Inside, 'recorder' | 'segment'>, code: string, message: string) {
  if (recorder.state === segment.state || recorder.state.ended) return false;
  try {
    recorder.record({ type: 'notice', level: 'warning', code, message });
    return true;
  } catch {
    return false; // IoError: the run meets it with its next line
  }
}

/** The tree that changes are told against: the commit a run began from, unless its tree was dirty. */
async function startingTree({ state }: Segment, place: Place): Promise<string | null> {
  const git = state.start ? state.start.git : await place.git.state();
  return git?.head && !git.dirty ? git.head : place.git.snapshot();
}

/** What is left of the 7.5 seconds between a CI system's signals, after ending the tools. */
const CANCELLED_PATCH_MS = 3000;

async function patchOf({ built, snapshot }: Held, outcome: RunOutcome): Promise<string | null> {
  if (!built || !snapshot) return null;
  const patch = built.place.git.patchSince(snapshot);
  return built.redactor.redact(await (outcome.reason === 'cancelled' ? inTime(patch) : patch));
}

/** Whoever cancels a job soon kills it, and a result without a patch is worth more than neither. */
async function inTime(patch: Promise<string>): Promise<string> {
  const over = new AbortController();
  const late = SYSTEM_CLOCK.sleep(CANCELLED_PATCH_MS, over.signal).then(() => {
    throw new IoError(`it was not ready within ${CANCELLED_PATCH_MS} ms of the signal`);
  });
  try {
    return await Promise.race([patch, late]);
  } finally {
    over.abort();
    for (const loser of [patch, late]) loser.catch(() => {});
  }
}

/** Whatever happens inside becomes an outcome, and the transcript's last line if it can still be written. */
async function toOutcome(inside: Inside): Promise<RunOutcome> {
  const { segment, recorder, held } = inside;
  try {
    const outcome = await work(inside);
    if (!recorder.state.ended) recordEnd(inside, outcome); // it was cut before it began
    return outcome;
  } catch (error) {
    // UsageError: found before the first request. IoError: the disk. Anything else is a bug, and still has a result.
    const outcome = mapStrings(outcomeOf(error), inside.redactor.redact);
    if (outcome.reason === 'internal_error') held.fault = error;
    // A run that cannot even go on keeps what it has: its files stay as its last segment left them.
    if (segment.earlier.length > 0 && recorder.state === segment.state) {
      leave(segment, held);
      throw error;
    }
    if (!recorder.state.ended) recordEnd(inside, outcome);
    return outcome;
  }
}

function leave({ folder }: Segment, { built }: Held): void {
  built?.dispose();
  folder.release();
}

function outcomeOf(error: unknown): RunOutcome {
  if (error instanceof UsageError) return usageOutcome(error);
  if (error instanceof IoError) return { reason: 'io_error', detail: error.message };
  return { reason: 'internal_error', detail: errorText(error) };
}

/** The end of a segment, told to those who watch though the transcript cannot take it. */
function recordEnd({ recorder, journal, bus }: Inside, outcome: RunOutcome): void {
  const message = explain(outcome, recorder.state);
  const body: EventBody = { type: 'run_end', outcome, exit_code: exitCode(outcome), message };
  try {
    recorder.record(body);
  } catch {
    // IoError: a full disk. result.json says how the run ended, if that fits.
    bus.publish(journal.stamp(body));
  }
}

function nextAfter({ config, folder, env, words }: Segment, state: () => RunState): RunPlace['next'] {
  const { model, file: task_file } = config.task;
  const credentials = credentialsAdvice(model, env);
  const facts = { task_file, ...defined('words', words), ...defined('credentials', credentials) };
  // Where nothing was begun there is nothing to go on with.
  return (outcome) => nextCommand(outcome, { ...facts, ...(state().start ? { run_dir: folder.dir } : {}) });
}

function partsOptions(segment: Segment, redactor: Redactor): PartsOptions {
  const { config, env, cwd, folder, interrupts, facts, onSecret } = segment;
  return {
    config,
    env,
    cwd,
    clock: SYSTEM_CLOCK,
    random: Math.random,
    interrupts,
    onSecret,
    facts,
    run_dir: folder.hidden,
    redactor,
    keepOutput: createOutputStore(folder.outputsDir),
    readStored: storedOutputs(folder.dir),
    serverLog: createServerLog(folder.outputsDir),
  };
}
