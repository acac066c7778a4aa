import { numberField } from './fields.ts';
import { createCarriedLog, type CarriedLog } from './carried.ts';
import { bodyText } from './shown-text.ts';
import type { JsonObject } from '../core/json.ts';
import type { Chunks } from './chunks.ts';
import type { Body, PageEntry, PageTurn } from './page-data.ts';
import { showSpan } from '../core/figures.ts';

/** A browser holds so many rows with ease; a transcript of more has its last ones left out, and the page says so. */
export const MAX_ENTRIES = 50_000;
/** No reply asks for so many calls at once; more are calls that nothing will answer. */
const MAX_OPEN = 10_000;

/** A call between its beginning in a reply and its end. */
export interface OpenCall {
  name: string;
  summary: string;
  input: Body | null;
  verdict: string;
  rule: string;
  reason: string;
}

/** What rows are made with. */
export interface Timeline {
  entries: PageEntry[];
  turns: PageTurn[];
  carried: CarriedLog;
  calls: ReadonlyMap<string, OpenCall>;
  open: (id: string, call: OpenCall) => void;
  /** Takes a call out that is answered. */
  close: (id: string) => OpenCall | undefined;
  /** Row of each denied call by its id. */
  denied: Map<string, number>;
  schema: Body | null;
  left_out: number;
  /** The line that is being read. */
  line: number;
  /** When it was written, since the run began. */
  at: string;
  body: (text: string) => Body | null;
  /** Adds a row and answers with its index, -1 when there is no room left. */
  add: (entry: Omit<PageEntry, 'at' | 'bodies'>, bodies?: readonly (readonly [string, Body | null])[]) => number;
}

export function createTimeline(chunks: Chunks): Timeline {
  const calls = new Map<string, OpenCall>();
  const timeline: Timeline = {
    entries: [],
    turns: [],
    carried: createCarriedLog(),
    calls,
    open(id, call) {
      calls.set(id, call);
      const [oldest] = calls.keys();
      if (calls.size > MAX_OPEN && oldest !== undefined) calls.delete(oldest);
    },
    close(id) {
      const call = calls.get(id);
      calls.delete(id);
      return call;
    },
    denied: new Map(),
    schema: null,
    left_out: 0,
    line: 0,
    at: '',
    body: (text) => (text === '' ? null : chunks.add(bodyText(text, timeline.line))),
    add(entry, bodies = []) {
      if (timeline.entries.length >= MAX_ENTRIES) {
        timeline.left_out += 1;
        return -1;
      }
      const kept = bodies.flatMap(([label, body]) => (body === null ? [] : [[label, body] as const]));
      return timeline.entries.push({ ...entry, at: timeline.at, bodies: kept }) - 1;
    },
  };
  return timeline;
}

/** "1.2 s", '' when the event does not say. */
export function spanOf(event: JsonObject): string {
  const ms = numberField(event, 'duration_ms');
  return ms === null ? '' : showSpan(ms);
}
