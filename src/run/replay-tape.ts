import { compareEvents, normalised } from './replay-compare.ts';
import type { EventBody, RunEvent } from '../core/events.ts';
import type { Bus, Journal } from '../core/ports.ts';
import type { Difference } from './replay-compare.ts';

/** The first event of a replay that is not the recorded one. */
export interface Divergence extends Difference {
  /** Line of the transcript; null when the recording has ended. */
  seq: number | null;
  turn: number;
  /** The call that the event belongs to. */
  tool_use_id?: string;
  tool?: string;
}

/** Thrown into a replay that is over, to end what still runs in it. */
export class ReplayHalted extends Error {}

export interface TapeOptions {
  /** One segment of a transcript, its first line included. */
  events: readonly RunEvent[];
  /** The turn that was open when the segment began. */
  turn: number;
  live: boolean;
  /** Told what is due next, each time something was recorded. */
  onDue(index: number): void;
}

/** How many rounds of the event loop a replay may wait for nothing before it counts as stuck. */
const PATIENCE = 20;

/**
 * Stands in for a run's journal and bus: takes each event only if it is the recorded one, and gives it the recorded
 * time, so that the ledger, budgets and limits come out the same.
 */
export class Tape {
  readonly journal: Journal;
  readonly bus: Bus;
  /** Resolves when the recording says nothing more, or the replay left it. */
  readonly halted: Promise<void>;
  readonly #options: TapeOptions;
  readonly #waiting = new Set<{ test: (event: RunEvent) => boolean; go: () => void }>();
  #halt: () => void = () => {};
  #over = false;
  #index = 0;
  #busy = 0;
  #watched = false;
  #divergence: Divergence | undefined;

  constructor(options: TapeOptions) {
    this.#options = options;
    this.halted = new Promise((resolve) => {
      this.#halt = resolve;
    });
    this.journal = { append: (body) => this.#append(body) };
    this.bus = { publish: () => this.#published() };
  }

  /** Where the replay left the recording. */
  get divergence(): Divergence | undefined {
    return this.#divergence;
  }

  /** What is due next; undefined at the end. */
  get due(): RunEvent | undefined {
    return this.#options.events[this.#index];
  }

  /** How many events came as recorded. */
  get played(): number {
    return this.#index;
  }

  /** The recorded events from the next one on. */
  ahead(): readonly RunEvent[] {
    return this.#options.events.slice(this.#index);
  }

  /** What was recorded of the present turn, from its request on, and of it what is still to come. */
  turn(): { all: readonly RunEvent[]; ahead: readonly RunEvent[] } {
    const { events } = this.#options;
    const before = events.slice(0, this.#index).findLastIndex(({ type }) => type === 'turn_start');
    const after = events.findIndex(({ type }, index) => index >= this.#index && type === 'turn_start');
    const end = after < 0 ? events.length : after;
    return { all: events.slice(Math.max(0, before), end), ahead: events.slice(this.#index, end) };
  }

  /** Waits until an event is due that passes the test. */
  async until(test: (event: RunEvent) => boolean): Promise<void> {
    if (this.due && test(this.due)) return;
    await new Promise<void>((resolve) => {
      this.#waiting.add({ test, go: resolve });
      this.#watch();
    });
  }

  /** Something runs for real, so that waiting does not mean being stuck. */
  async busy<T>(work: Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await work;
    } finally {
      this.#busy -= 1;
      this.#watch();
    }
  }

  /** Resolves when nothing runs for real any more. */
  async idle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // what is about to begin or to end does so
    while (this.#busy > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** Nothing more is expected: what still comes belongs to no recording. */
  halt(): void {
    this.#over = true;
    this.#halt();
  }

  /** Takes the recorded end of a run that a fault ended; after `halt` nothing else is taken. */
  reopen(): void {
    this.#over = false;
  }

  /** The replay has ended; what was recorded beyond is missing. */
  finish(): void {
    const { due } = this;
    if (due && !this.#divergence) this.#diverge({ path: '', expected: summary(due), got: null });
  }

  #append(body: EventBody): RunEvent {
    if (this.#over) throw new ReplayHalted();
    const { due } = this;
    const difference = due
      ? compareEvents(due, body, this.#options.live)
      : { path: '', expected: null, got: summary(body) };
    if (!due || difference) {
      this.#diverge(difference ?? { path: '', expected: null, got: summary(body) }, body);
      throw new ReplayHalted();
    }
    this.#index += 1;
    const { seq, time, run_id } = due;
    return { seq, time, run_id, ...normalised(due, body, this.#options.live) };
  }

  /** Called when the state knows the event; answers with the notices that came from outside. */
  #published(): EventBody[] {
    const notices: EventBody[] = [];
    for (let index = this.#index; ; index += 1) {
      const event = this.#options.events[index];
      if (event?.type !== 'notice') break;
      const { seq: _seq, time: _time, run_id: _run_id, ...notice } = event;
      notices.push(notice);
    }
    if (notices.length > 0) return notices; // they are recorded next, before anything else can be
    this.#options.onDue(this.#index);
    this.#wake();
    return [];
  }

  #wake(): void {
    const { due } = this;
    if (!due) return;
    for (const waiter of this.#waiting) {
      if (!waiter.test(due)) continue;
      this.#waiting.delete(waiter);
      waiter.go();
    }
  }

  /** Finds out that everybody waits for something that is not due. */
  #watch(): void {
    if (this.#watched) return;
    this.#watched = true;
    let left = PATIENCE;
    let seen = this.#index;
    const look = (): void => {
      this.#watched = false;
      if (this.#over || this.#waiting.size === 0 || this.#busy > 0) return;
      left = seen === this.#index ? left - 1 : PATIENCE;
      seen = this.#index;
      if (left === 0) return this.finish();
      this.#watched = true;
      setImmediate(look);
    };
    setImmediate(look);
  }

  #diverge(difference: Difference, got?: EventBody): void {
    const { due } = this;
    const event = got ?? due;
    const call = event && 'tool_use_id' in event && event.tool_use_id !== undefined ? event : undefined;
    this.#divergence ??= {
      seq: due?.seq ?? null,
      turn: this.#turnNumber(),
      ...(call?.tool_use_id === undefined ? {} : { tool_use_id: call.tool_use_id }),
      ...(call && 'name' in call ? { tool: call.name } : {}),
      ...difference,
    };
    this.halt();
  }

  #turnNumber(): number {
    const start = this.#options.events.slice(0, this.#index + 1).findLast((event) => event.type === 'turn_start');
    return start?.type === 'turn_start' ? start.turn : this.#options.turn;
  }
}

function summary(event: EventBody): string {
  return 'name' in event ? `${event.type} (${event.name})` : event.type;
}
