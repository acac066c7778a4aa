// What the page is given: texts that are ready to be shown, in which nothing unseen is left, and a few numbers.

/** A text kept outside the index: the chunk it stands in, its place there, and its length in characters. */
export type Body = readonly [chunk: number, place: number, length: number];

export type Tone = 'good' | 'bad' | 'warn' | 'plain';
export type EntryKind = 'turn' | 'call' | 'message' | 'event';

/** One row of the timeline. */
export interface PageEntry {
  kind: EntryKind;
  tone: Tone;
  title: string;
  /** A word beside the title: "denied", "timed out"; '' for none. */
  badge: string;
  /** One line. */
  summary: string;
  /** Figures: time, size, cost. */
  meta: string;
  /** Since the run began. */
  at: string;
  bodies: readonly (readonly [label: string, body: Body])[];
}

/** One turn of the charts. */
export interface PageTurn {
  turn: number;
  prompt_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  cost_usd: number | null;
  /** Index of its row. */
  entry: number;
}

/** Something the model was given, and with how many requests it went along. */
export interface PageCarried {
  /** What kind: "read_file", "replies", "first message". */
  group: string;
  label: string;
  bytes: number;
  turns: number;
  /** Index of its row, -1: none. */
  entry: number;
}

export interface PageFinding {
  level: string;
  place: string;
  title: string;
  message: string;
}

export interface PageLimit {
  name: string;
  used: string;
  most: string;
  /** Used part of the limit, at most 1. */
  share: number;
}

export interface PageRun {
  task: string;
  run_dir: string;
  status: 'success' | 'failure' | 'cancelled' | 'unfinished';
  exit_reason: string;
  exit_code: number | null;
  message: string;
  /** Large figures: name and value, and a word to each. */
  figures: readonly (readonly [name: string, value: string, note: string])[];
  facts: readonly (readonly [name: string, value: string])[];
  limits: readonly PageLimit[];
  findings: readonly PageFinding[] | null;
  output: Body | null;
  schema: Body | null;
  /** Titled lists of sentences: problems, warnings, output errors, verify, gate. */
  notes: readonly { title: string; tone: Tone; lines: readonly string[] }[];
  denials: readonly { tool: string; rule: string; reason: string; entry: number }[];
  turns: readonly PageTurn[];
  /** Sum that `carried` shares are of; null: not known. */
  input_tokens: number | null;
  carried: readonly PageCarried[];
  carried_left_out: number;
  entries: readonly PageEntry[];
}

export interface PageData {
  title: string;
  subtitle: string;
  runs: readonly PageRun[];
  problems: readonly string[];
}
