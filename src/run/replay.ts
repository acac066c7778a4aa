import { resolve } from 'node:path';
import { runAgent } from '../agent/loop.ts';
import { createRecorder } from '../agent/record.ts';
import { EMPTY_STATE } from '../agent/state.ts';
import { UsageError } from '../core/errors.ts';
import { SUBMIT_TOOL } from '../core/ports.ts';
import { readJournal } from '../journal/journal.ts';
import { readTurns } from '../model/recording.ts';
import { createReplayClient } from '../model/replay.ts';
import { createPrompts } from '../prompts/texts.ts';
import { abortBefore, isFault } from './replay-aborts.ts';
import { recordedTools, replayedParts } from './replay-parts.ts';
import { ReplayHalted, Tape } from './replay-tape.ts';
import { followUp } from './resume.ts';
import { TRANSCRIPT } from './run-folder.ts';
import type { Parts } from '../agent/loop.ts';
import type { Recorder } from '../agent/record.ts';
import type { RunState } from '../agent/state.ts';
import type { AbortCause, EventBody, RunEvent, RunStart } from '../core/events.ts';
import type { Texts } from '../core/ports.ts';
import type { Prompts } from '../prompts/texts.ts';
import type { LiveTools } from './replay-live.ts';
import type { Divergence } from './replay-tape.ts';

export interface ReplayRequest {
  run_dir: string;
  cwd?: string;
  /** Judges and runs calls for real; absent: verdicts and results come from the transcript. */
  live?: LiveTools;
  /** Ends the replay early. */
  signal?: AbortSignal;
}

export interface ReplayResult {
  run_id: string;
  matches: boolean;
  /** How many events came as they were recorded, and how many there are. */
  events: number;
  recorded: number;
  /** The first difference. */
  divergence: Divergence | null;
}

/** Runs a recorded run again, model and tools from its transcript, and compares every event. Never writes to its folder. */
export async function replay(request: ReplayRequest): Promise<ReplayResult> {
  const run_dir = resolve(request.cwd ?? process.cwd(), request.run_dir);
  const { events } = readJournal(resolve(run_dir, TRANSCRIPT));
  const [first] = events;
  if (first?.type !== 'run_start')
    throw new UsageError(`${run_dir}: nothing was begun in this run, so there is nothing to replay`);
  const result: ReplayResult = {
    run_id: first.run_id,
    matches: true,
    events: 0,
    recorded: events.length,
    divergence: null,
  };
  let state = EMPTY_STATE;
  for (const segment of segmentsOf(events)) {
    const played = await replaySegment(segment, state, request);
    state = played.state;
    result.events += played.tape.played;
    result.divergence = played.tape.divergence ?? null;
    if (result.divergence || request.signal?.aborted) break;
  }
  return { ...result, matches: !result.divergence && result.events === result.recorded };
}

/** A run, and each time it went on. */
function segmentsOf(events: readonly RunEvent[]): RunEvent[][] {
  const segments: RunEvent[][] = [];
  for (const event of events) {
    if (event.type === 'run_resume' || segments.length === 0) segments.push([]);
    segments.at(-1)?.push(event);
  }
  return segments;
}

/** A controller for each of the two ends a run's time has. */
interface Ends {
  whole: AbortController;
  ordinary: AbortController;
}

async function replaySegment(
  events: readonly RunEvent[],
  state: RunState,
  { live, signal }: ReplayRequest,
): Promise<{ state: RunState; tape: Tape }> {
  const { texts } = await createPrompts(startOf(events[0], state)?.task.prompt_templates);
  const ends: Ends = { whole: new AbortController(), ordinary: new AbortController() };
  const tape: Tape = new Tape({
    events,
    turn: state.turn?.turn ?? 0,
    live: live !== undefined,
    onDue: (index) => onDue(index, { events, tape, ends, texts, timeout_ms: limitsOf(events, state) }),
  });
  const recorder = createRecorder(tape.journal, tape.bus, state);
  const stop = (): void => tape.halt();
  signal?.addEventListener('abort', stop, { once: true });
  const inside = playSegment({ events, tape, recorder, ends, live });
  await Promise.race([inside, tape.halted]).catch((error: unknown) => {
    // What the replay left the recording with; anything else is a bug.
    if (!(error instanceof ReplayHalted)) throw error;
  });
  inside.catch(() => {}); // what is left of it ends when it next records something, or waits for ever
  signal?.removeEventListener('abort', stop);
  ends.whole.abort({ reason: 'cancelled', signal: 'SIGTERM' } satisfies AbortCause);
  await tape.idle();
  if (signal?.aborted) return { state: recorder.state, tape };
  endAsRecorded(tape, recorder);
  tape.finish();
  return { state: recorder.state, tape };
}

function limitsOf([first]: readonly RunEvent[], { start }: RunState): number {
  const limits =
    first?.type === 'run_start' ? first.task.limits : first?.type === 'run_resume' ? first.limits : undefined;
  return (limits ?? start?.task.limits)?.timeout_ms ?? 0;
}

interface Due {
  events: readonly RunEvent[];
  tape: Tape;
  ends: Ends;
  texts: Texts;
  timeout_ms: number;
}

/** Lets happen what happened from outside before the next event. */
function onDue(index: number, { events, tape, ends, texts, timeout_ms }: Due): void {
  const next = events[index];
  if (next?.type === 'run_end' && isFault(next.outcome)) return tape.halt();
  if (!next) {
    // Without a last line the process died here.
    if (events.at(-1)?.type !== 'run_end') tape.halt();
    return undefined;
  }
  const due = abortBefore(events, index, { texts, timeout_ms });
  if (due) ends[due.whole ? 'whole' : 'ordinary'].abort(due.cause);
  return undefined;
}

interface Playing {
  events: readonly RunEvent[];
  tape: Tape;
  recorder: Recorder;
  ends: Ends;
  live: LiveTools | undefined;
}

async function playSegment({ events, tape, recorder, ends, live }: Playing): Promise<void> {
  const [first] = events;
  const start = startOf(first, recorder.state);
  if (!first || !start) return;
  const turns = readTurns(events);
  const lost = new Set(
    turns
      .flatMap((turn) => [turn, ...turn.attempts].flatMap((part) => part.lost))
      .flatMap(({ id, input_json }) => (input_json === undefined ? id : [])),
  );
  const model = createReplayClient(start.task.model, {
    take: () => turns.shift(),
    due: (event) => tape.until((one) => one.type === event?.type),
    answered: () => tape.idle(),
    at_ms: Date.parse(first.time),
    lost_calls: true,
  });
  const signals = { signal: ends.whole.signal, ordinary: ends.ordinary.signal };
  const acting = live
    ? await live.build({ start, tape, model, lost, ...signals })
    : await recordedTools({ start, tape });
  const deciding = await replayedParts(start, model, tape);
  const parts: Parts = { ...deciding, ...acting, ordinary: signals.ordinary };
  begin(first, { recorder, start, parts, prompts: deciding.prompts, live: live !== undefined });
  await runAgent(parts, recorder, signals.signal);
}

/** The run as this segment found it: its task, under the limits of this segment. */
function startOf(first: RunEvent | undefined, { start }: RunState): RunStart | undefined {
  if (first?.type === 'run_start') return first;
  if (first?.type !== 'run_resume' || !start || !first.limits) return start;
  return { ...start, task: { ...start.task, limits: first.limits } };
}

interface Beginning {
  recorder: Recorder;
  start: RunStart;
  parts: Parts;
  prompts: Prompts;
  live: boolean;
}

/** Records what begins a segment: what this version would say of the task, and what was found outside as it was found. */
function begin(first: RunEvent, { recorder, start, parts, prompts, live }: Beginning): void {
  const { seq: _seq, time: _time, run_id: _run_id, ...body } = first;
  if (body.type !== 'run_start') {
    recorder.record(body);
    if (body.type === 'run_resume' && body.prompt !== undefined) followUp(recorder, body.prompt);
    return;
  }
  const { gate, registry } = parts;
  const tools = live
    ? registry.definitions.map(prompts.described)
    : body.tools.filter(({ name }) => name !== SUBMIT_TOOL);
  recorder.record({
    ...body,
    system: prompts.system(gate.mode, start.task.system),
    tools: [...tools, ...(gate.tool ? [prompts.described(gate.tool)] : [])],
    output_mode: gate.mode,
  });
}

/** A fault from outside has no cause in a replay: its last line is taken as it stands. */
function endAsRecorded(tape: Tape, recorder: Recorder): void {
  const { due } = tape;
  if (tape.divergence || due?.type !== 'run_end' || !isFault(due.outcome)) return;
  const { seq: _seq, time: _time, run_id: _run_id, ...body } = due;
  tape.reopen();
  recorder.record(body satisfies EventBody);
  tape.halt();
}
