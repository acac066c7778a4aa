import { createHash } from 'node:crypto';
import { execute } from './execute.ts';
import { admitMedia } from './media-room.ts';
import { openCalls } from './state.ts';
import { submits } from './step.ts';
import type { CallLimits } from '../core/config.ts';
import type { AbortCause, ToolEnd } from '../core/events.ts';
import type { ToolUseBlock } from '../core/messages.ts';
import type {
  Clock,
  Judgement,
  OutputSink,
  Plan,
  Policy,
  Redact,
  StreamFilter,
  Tool,
  ToolCall,
  ToolRegistry,
} from '../core/ports.ts';
import type { Recorder } from './record.ts';
import type { Advice } from './step.ts';

/** What it takes to judge and run calls. */
export interface DispatchParts extends Advice {
  registry: ToolRegistry;
  policy: Policy;
  /** Limits of a tool's calls; `timeout_ms` absent: the run's tool timeout. */
  callLimits(name: string): CallLimits;
  redact: Redact;
  filter: () => StreamFilter;
  /** Opens the store for a call's whole output. */
  keepOutput(tool_use_id: string): OutputSink;
  clock: Clock;
}

type Ended = Omit<ToolEnd, 'type' | 'tool_use_id' | 'name'>;
type Ready = { ready: true; tool: Tool; call: ToolCall; judgement: Judgement };
type Prepared = { ready: false; ended: Ended } | Ready;

interface Entry {
  block: ToolUseBlock;
  prepared: Prepared;
  verdict_recorded: boolean;
  running?: Promise<Ended>;
  /** What it came to, once it has. */
  ended?: Ended;
}

/** Calls that only read, by their name and the text of their input. */
export type Reads = ReadonlyMap<string, Entry>;

export interface RoundTurn {
  signal: AbortSignal;
  /** Calls that only read may start while the reply still streams. */
  early: boolean;
  /** Of attempts of the same turn that failed: what is asked again and was answered is not run again. */
  before: Reads;
}

/** The calls of one turn: reads run together and early, effects alone, in order, after the turn is whole. */
export class Round {
  readonly #parts: DispatchParts;
  readonly #recorder: Recorder;
  readonly #signal: AbortSignal;
  readonly #early: boolean;
  #before: Reads;
  readonly #abandon = new AbortController();
  readonly #entries = new Map<string, Entry>();
  /** Early starts are considered one after another, in block order. */
  #chain: Promise<void> = Promise.resolve();
  /** What went wrong in an early start; thrown when the turn is settled. */
  #fault: { error: unknown } | undefined;
  /** An effect stands in the turn: nothing behind it may start before it. */
  #blocked = false;

  constructor(parts: DispatchParts, recorder: Recorder, { signal, early, before }: RoundTurn) {
    this.#parts = parts;
    this.#recorder = recorder;
    this.#signal = signal;
    this.#early = early;
    this.#before = before;
  }

  /** The reads of this attempt and of those before it; some may still come to an end. */
  reads(): Reads {
    const own = [...this.#entries.values()].filter((entry) => entry.running !== undefined);
    return new Map([...this.#before, ...own.map((entry) => [keyOf(entry), entry] as const)]);
  }

  /** Ends whatever still runs and resolves when it has; the results belong to no reply. */
  async abandon(): Promise<void> {
    this.#abandon.abort();
    await Promise.all([...this.#entries.values()].flatMap(({ running }) => running ?? []));
  }

  offer(block: ToolUseBlock): void {
    if (!this.#early || submits(block, this.#parts)) return;
    this.#chain = this.#chain
      .then(() => this.#consider(block))
      .catch((error: unknown) => {
        // A failed append or a bug of ours: kept for settle, since nobody waits for this promise.
        this.#fault ??= { error };
      });
  }

  /** Answers every open call but the output's, recording results in block order. */
  async settle(): Promise<void> {
    await this.#chain;
    if (this.#fault) throw this.#fault.error;
    const reads: Entry[] = [];
    for (const block of openCalls(this.#recorder.state)) {
      if (submits(block, this.#parts)) continue;
      if (this.#recorder.state.terminated) break; // `next` answers what is left
      await this.#settleCall(block, reads);
    }
    await this.#finish(reads);
  }

  async #prepare(block: ToolUseBlock): Promise<Prepared> {
    const { registry, policy, texts } = this.#parts;
    if (block.fault !== undefined) return { ready: false, ended: failed('invalid', texts.callFault(block.fault)) };
    const tool = registry.get(block.name);
    if (!tool) return { ready: false, ended: failed('unknown', unknownTool(block.name, registry)) };
    const parsed = registry.parse(block.name, block.input_json);
    if (!parsed.ok) return { ready: false, ended: failed('invalid', parsed.error) };
    const call = { id: block.id, name: block.name, input: parsed.input };
    return { ready: true, tool, call, judgement: await policy.judge(call) };
  }

  async #consider(block: ToolUseBlock): Promise<void> {
    if (this.#blocked || this.#abandon.signal.aborted) return;
    const entry: Entry = { block, prepared: await this.#prepare(block), verdict_recorded: false };
    if (this.#abandon.signal.aborted) return;
    this.#entries.set(block.id, entry);
    const plan = allowedPlan(entry.prepared);
    if (plan?.effect === 'write') this.#blocked = true;
    else if (plan && !this.#reuse(entry) && this.#overLimit(block.name) === undefined) this.#start(entry, plan, true);
  }

  async #settleCall(block: ToolUseBlock, reads: Entry[]): Promise<void> {
    const entry = this.#entries.get(block.id) ?? {
      block,
      prepared: await this.#prepare(block),
      verdict_recorded: false,
    };
    const plan = allowedPlan(entry.prepared);
    if (plan?.effect === 'read' && !entry.running) this.#reuse(entry);
    if (entry.running) {
      reads.push(entry);
      return;
    }
    // Whatever does not run beside the reads waits for them, so results stand in the journal in block order.
    if (plan?.effect !== 'read') await this.#finish(reads);
    const refusal = plan && this.#refusal(block.name);
    if (!plan || refusal) {
      await this.#finish(reads);
      this.#recordVerdict(entry);
      this.#record(entry, refusal ?? refused(entry.prepared));
      return;
    }
    this.#start(entry, plan, false);
    reads.push(entry);
    if (plan.effect === 'write') await this.#finish(reads);
  }

  /** Why an allowed call is not begun any more. */
  #refusal(name: string): Ended | undefined {
    if (this.#signal.aborted) {
      const cause = this.#signal.reason as AbortCause; // run/run.ts aborts with nothing else
      return failed('cancelled', this.#parts.texts.cut(cause.reason));
    }
    const over = this.#overLimit(name);
    return over === undefined ? undefined : failed('over_limit', over);
  }

  #overLimit(name: string): string | undefined {
    const { state } = this.#recorder;
    const most = this.#parts.callLimits(name).max_calls;
    const { texts } = this.#parts;
    if (most !== undefined && (state.calls_by_tool[name] ?? 0) >= most) return texts.callLimit(name, most);
    const all = state.start?.task.limits.max_tool_calls ?? null;
    return all !== null && state.ledger.tool_calls >= all ? texts.callLimit(null, all) : undefined;
  }

  /** Takes over the answer that an attempt before got for the same call; false when there is none. */
  #reuse(entry: Entry): boolean {
    const before = this.#before.get(keyOf(entry));
    const ended = before?.ended;
    if (!before || (ended?.status !== 'ok' && ended?.status !== 'error')) return false;
    entry.ended = { ...ended, duration_ms: 0, reused_from: ended.reused_from ?? before.block.id };
    entry.running = Promise.resolve(entry.ended);
    return true;
  }

  #start(entry: Entry, plan: Plan, early: boolean): void {
    if (!entry.prepared.ready) return;
    // After an effect what was read before may not be true any more.
    if (plan.effect === 'write') this.#before = new Map();
    const { tool, call } = entry.prepared;
    const { state } = this.#recorder;
    this.#recordVerdict(entry);
    this.#recorder.record({ type: 'tool_start', tool_use_id: call.id, name: call.name, effect: plan.effect, early });
    const limits = this.#parts.callLimits(call.name);
    const wanted = limits.timeout_ms ?? state.start?.task.limits.tool_timeout_ms ?? 1;
    const timeout_ms = Math.max(1, Math.min(wanted, this.#parts.budget.remainingMs(state.ledger, false)));
    const signal = AbortSignal.any([this.#signal, this.#abandon.signal]);
    const running = execute({ tool, call, plan, limits, timeout_ms, signal, parts: this.#parts });
    entry.running = running.then((ended) => (entry.ended = ended));
  }

  async #finish(entries: Entry[]): Promise<void> {
    for (const entry of entries.splice(0)) {
      if (!entry.running) continue;
      const ended = await entry.running;
      this.#recordVerdict(entry); // of a call that never started
      this.#record(entry, ended);
    }
  }

  #record({ block }: Entry, ended: Ended): void {
    const { media: held, gauge } = this.#recorder.state;
    const { context_tokens } = this.#parts;
    const { content, refused } = admitMedia(ended.content, { held, gauge, context_tokens });
    const failed = refused ? { status: 'error' as const, is_error: true } : {};
    this.#recorder.record({ type: 'tool_end', tool_use_id: block.id, name: block.name, ...ended, content, ...failed });
  }

  #recordVerdict(entry: Entry): void {
    if (!entry.prepared.ready || entry.verdict_recorded) return;
    const { block } = entry;
    const { judgement } = entry.prepared;
    entry.verdict_recorded = true;
    this.#recorder.record({
      type: 'policy_verdict',
      tool_use_id: block.id,
      name: block.name,
      verdict: judgement.verdict,
      input_sha256: createHash('sha256').update(block.input_json).digest('hex'),
      ...(judgement.rule === undefined ? {} : { rule: judgement.rule }),
      ...(judgement.verdict === 'allow' ? {} : { reason: judgement.reason }),
    });
  }
}

function keyOf({ block }: Entry): string {
  return `${block.name}\n${block.input_json}`;
}

function allowedPlan(prepared: Prepared): Plan | undefined {
  return prepared.ready && prepared.judgement.verdict === 'allow' ? prepared.judgement.plan : undefined;
}

function refused(prepared: Prepared): Ended {
  if (!prepared.ready) return prepared.ended;
  const { judgement } = prepared;
  return failed('denied', judgement.verdict === 'allow' ? '' : judgement.reason);
}

function failed(status: ToolEnd['status'], text: string): Ended {
  return { status, content: [{ type: 'text', text }], is_error: true, duration_ms: 0, bytes: Buffer.byteLength(text) };
}

function unknownTool(name: string, registry: ToolRegistry): string {
  const names = registry.definitions.map((definition) => definition.name).join(', ');
  return `There is no tool "${name}". Available: ${names || 'none'}.`;
}
