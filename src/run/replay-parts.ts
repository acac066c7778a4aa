import { keepNothing } from './output-store.ts';
import { UsageError } from '../core/errors.ts';
import { compileSchema } from '../core/json-schema.ts';
import { MCP_PREFIX } from '../core/mcp.ts';
import { SUBMIT_TOOL } from '../core/ports.ts';
import { LOST_INPUT } from '../model/replay.ts';
import { createPrompts } from '../prompts/texts.ts';
import { plainChecker } from '../tools/plain-schema.ts';
import { createRegistry } from '../tools/registry.ts';
import { decidingParts } from './deciding.ts';
import type { Parts } from '../agent/loop.ts';
import type { RunEvent, RunStart, ToolEnd, ToolStart } from '../core/events.ts';
import type { JsonValue } from '../core/json.ts';
import type { Clock, Judgement, ModelClient, Policy, RunVerify, Tool, ToolRegistry } from '../core/ports.ts';
import type { CheckInput } from '../tools/plain-schema.ts';
import type { Deciding } from './deciding.ts';
import type { Tape } from './replay-tape.ts';

/** As many as a run tells. */
const SHOWN_ISSUES = 5;

/** Nothing is ever waited for: what a wait led to was recorded. */
const STILL_CLOCK: Clock = { now: () => 0, sleep: () => new Promise(() => {}) };

/** The parts that decide, made anew from the recorded task; what they wait for is no standstill. */
export async function replayedParts({ task }: RunStart, model: ModelClient, tape: Tape): Promise<Deciding> {
  const deciding = await decidingParts(task, model, await createPrompts(task.prompt_templates));
  const { gate } = deciding;
  return {
    ...deciding,
    gate: {
      ...gate,
      check: (candidate) => tape.busy(gate.check(candidate)),
      gate: (value_text) => tape.busy(gate.gate(value_text)),
    },
  };
}

/** What judges and acts in a run. */
export type Acting = Pick<Parts, 'registry' | 'policy' | 'verify' | 'redact' | 'filter' | 'keepOutput' | 'clock'>;

/** Verdicts and results as they were recorded: nothing is judged and nothing runs. */
export async function recordedTools({ start, tape }: { start: RunStart; tape: Tape }): Promise<Acting> {
  return {
    registry: lenient(await recordedRegistry(start, tape)),
    policy: recordedPolicy(tape),
    verify: recordedVerify(tape),
    redact: (text) => text,
    filter: () => ({ push: (chunk) => chunk, end: () => new Uint8Array() }),
    keepOutput: keepNothing,
    clock: STILL_CLOCK,
  };
}

async function recordedRegistry({ tools }: RunStart, tape: Tape): Promise<ToolRegistry> {
  const definitions = tools.filter(({ name }) => name !== SUBMIT_TOOL);
  const checkers = new Map<string, CheckInput>();
  for (const { name, input_schema } of definitions) {
    // A server's tools were checked by their schema, plain or not.
    if (name.startsWith(MCP_PREFIX) || !plainChecker(input_schema))
      checkers.set(name, await compiledChecker(name, input_schema));
  }
  const stubs = definitions.map((definition): Tool => ({
    definition,
    execute: async ({ id }, _plan, { signal }) => recordedResult(id, tape, signal),
  }));
  return createRegistry(stubs, checkers);
}

async function compiledChecker(name: string, schema: Record<string, unknown>): Promise<CheckInput> {
  const compiled = await compileSchema(schema, { source: name });
  if (!compiled.ok) throw new UsageError(`the recorded schema of tool "${name}" does not compile`);
  return (input) =>
    compiled
      .validate(input as JsonValue)
      .slice(0, SHOWN_ISSUES)
      .map(({ pointer, message }) => (pointer === '' ? message : `${pointer}: ${message}`));
}

/** A call whose input is lost was accepted, else it would not have started. */
export function lenient(registry: ToolRegistry): ToolRegistry {
  return {
    definitions: registry.definitions,
    get: (name) => registry.get(name),
    parse: (name, input_json) =>
      input_json === LOST_INPUT && registry.get(name) ? { ok: true, input: {} } : registry.parse(name, input_json),
  };
}

/** What a call gave back; a call without a recorded end gives nothing. */
async function recordedResult(id: string, tape: Tape, signal: AbortSignal): ReturnType<Tool['execute']> {
  const end = tape.ahead().find((event): event is RunEvent & ToolEnd => isEndOf(event, id));
  if (!end) return Promise.race([untilCut(signal), tape.until(() => false).then(async () => untilCut(signal))]);
  const { status, content, bytes, output_file } = end;
  if (status === 'ok' || status === 'error' || status === 'timed_out' || status === 'cancelled') {
    return { status, content, bytes, ...(output_file === undefined ? {} : { output_file }) };
  }
  // A crash is told by whoever catches it, in the words that stand in front of the error's own.
  const [block] = content;
  throw new Error(block?.type === 'text' ? block.text.replace(/^The tool failed: /, '') : status);
}

export async function untilCut(signal: AbortSignal): ReturnType<Tool['execute']> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return { status: 'cancelled', content: [], bytes: 0 };
}

function isEndOf(event: RunEvent, id: string): event is RunEvent & ToolEnd {
  return event.type === 'tool_end' && (event.tool_use_id === id || event.reused_from === id);
}

function recordedPolicy(tape: Tape): Policy {
  return {
    async judge({ id }) {
      await earlyTurn(id, tape);
      return recordedJudgement(id, tape);
    },
  };
}

/** A call that was started early comes where it came; all others are judged when it is their turn anyway. */
export async function earlyTurn(id: string, tape: Tape): Promise<void> {
  if (startOf(id, tape)?.early)
    await tape.until((event) => event.type === 'policy_verdict' && event.tool_use_id === id);
}

/** The recorded verdict on a call, with a plan of the recorded effect. */
export function recordedJudgement(id: string, tape: Tape): Judgement {
  const verdict = tape.turn().ahead.find((event) => event.type === 'policy_verdict' && event.tool_use_id === id);
  if (verdict?.type === 'policy_verdict' && verdict.verdict !== 'allow') {
    const { reason = '', rule } = verdict;
    return { verdict: verdict.verdict, reason, ...(rule === undefined ? {} : { rule }) };
  }
  const effect = startOf(id, tape)?.effect ?? (isReused(id, tape) ? 'read' : unseenEffect(id, tape));
  const rule = verdict?.type === 'policy_verdict' ? verdict.rule : undefined;
  const plan = { kind: 'call' as const, effect };
  return { verdict: 'allow', plan, ...(rule === undefined ? {} : { rule }) } as Judgement; // allowed without a rule: as recorded
}

function startOf(id: string, tape: Tape): Pick<ToolStart, 'early' | 'effect'> | undefined {
  const { all, ahead } = tape.turn();
  const event = ahead.find((one) => one.type === 'tool_start' && one.tool_use_id === id);
  if (event?.type === 'tool_start') return event;
  const last = ahead.at(-1);
  if (last?.type !== 'policy_verdict' || last.tool_use_id !== id || last.verdict !== 'allow') return undefined;
  // The process died on the way from the verdict to the start; results come after all early starts.
  return { effect: 'read', early: !all.some(({ type }) => type === 'tool_end') };
}

/** Only reads take over the answer of an attempt before. */
function isReused(id: string, tape: Tape): boolean {
  return tape
    .turn()
    .ahead.some((event) => event.type === 'tool_end' && event.tool_use_id === id && event.reused_from !== undefined);
}

/** A call that was allowed and not begun: only one that reads let later ones of its reply start early. */
function unseenEffect(id: string, tape: Tape): 'read' | 'write' {
  const turn = tape.turn().all;
  const reply = turn.find((event) => event.type === 'model_reply');
  const ids = reply?.type === 'model_reply' ? reply.content.flatMap((block) => idOf(block)) : [];
  const later = new Set(ids.slice(ids.indexOf(id) + 1));
  return turn.some((event) => event.type === 'tool_start' && event.early && later.has(event.tool_use_id))
    ? 'read'
    : 'write';
}

function idOf(block: object): string[] {
  return 'id' in block && typeof block.id === 'string' ? [block.id] : [];
}

function recordedVerify(tape: Tape): RunVerify {
  return async () => {
    await tape.until((event) => event.type === 'verify_end');
    const { due } = tape;
    if (due?.type !== 'verify_end') throw new Error('a verify command without a recorded end');
    const { type: _type, index: _index, seq: _seq, time: _time, run_id: _run_id, ...ended } = due;
    return ended;
  };
}
