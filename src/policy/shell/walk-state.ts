import type { Statement } from 'unbash';
import type { JudgedCommand, PathJudge } from './judgement.ts';
import type { ShellRules } from './rules.ts';

/** What is gathered while a text is judged; the first refusal is the reason of the denial. */
export interface Walk {
  readonly source: string;
  readonly rules: ShellRules;
  readonly paths: PathJudge;
  readonly delimiter: () => string;
  readonly commands: JudgedCommand[];
  readonly refusals: string[];
  writes: boolean;
  readonly depth: number;
  /** Judges statements; a field, so that one command can hold a whole script. */
  readonly nested: (statements: readonly Statement[], start: Cwds, walk: Walk) => Promise<{ readonly script: string }>;
}

/** The folders the shell may be in; an empty list means nobody knows, so nothing relative can be judged. */
export type Cwds = readonly string[];

/** A judged piece: how it is written, bodies for the end of its line, and where the shell may be afterwards. */
export interface Judged {
  readonly emit: string;
  readonly bodies: readonly string[];
  readonly ok: Cwds;
  readonly fail: Cwds;
}
