// The options of a run, for every front door: one table, flags and AGENT_RUN_<OPTION> variables read alike.

import { MAX_TIMER_MS, parseDuration } from '../core/measures.ts';
import { didYouMean, nearest } from '../core/nearest.ts';
import { UsageError } from '../core/errors.ts';

type Kind = 'list' | 'text' | 'count' | 'usd' | 'duration' | 'switch' | 'choice';

export interface OptionSpec {
  kind: Kind;
  describe: string;
  /** How help shows the value. */
  value?: string;
  choices?: readonly string[];
}

export const FORMATS = ['text', 'json', 'stream-json'] as const;
export const COLORS = ['auto', 'always', 'never'] as const;
export type Format = (typeof FORMATS)[number];
export type Color = (typeof COLORS)[number];

export const OPTIONS = {
  input: {
    kind: 'list',
    value: 'NAME=VALUE',
    describe: 'a value for an input of the task; @FILE or @- reads it from there',
  },
  out: { kind: 'text', value: 'DIR', describe: 'run folder (default: agent-run-results/NAME/RUN_ID)' },
  workspace: { kind: 'text', value: 'DIR', describe: 'where tools work (default: the current folder)' },
  model: { kind: 'text', value: 'ID', describe: "model id instead of the task's; its prices are dropped" },
  'max-turns': { kind: 'count', value: 'N', describe: 'most model replies' },
  'max-cost-usd': { kind: 'usd', value: 'N', describe: 'most USD' },
  timeout: { kind: 'duration', value: 'D', describe: 'most time, for example 90s or 20m' },
  'task-ref': { kind: 'text', value: 'GIT_REF', describe: 'read the task and what it names from this commit' },
  untrusted: { kind: 'switch', describe: 'treat the workspace as written by a stranger' },
  keep: { kind: 'count', value: 'N', describe: 'run folders of this task to keep' },
  format: { kind: 'choice', choices: FORMATS, describe: 'what stdout carries (default: text)' },
  quiet: { kind: 'switch', describe: 'only warnings and failures on stderr' },
  verbose: {
    kind: 'switch',
    describe: 'more progress on stderr, and every text in full in verbose.log of the run folder',
  },
  color: { kind: 'choice', choices: COLORS, describe: 'colours on stderr (default: auto)' },
  'dry-run': { kind: 'switch', describe: 'only validate, call no model' },
} as const satisfies Record<string, OptionSpec>;

/** Options of a command line that asks for several runs. */
export const BATCH_OPTIONS = {
  workers: { kind: 'count', value: 'N', describe: 'runs at the same time (default: 1)' },
  shard: { kind: 'text', value: 'I/N', describe: 'only part I of N of the runs, counted from 1' },
  rows: { kind: 'text', value: 'FILE.jsonl', describe: 'one run of the task for each line {name, workspace, inputs}' },
  continue: { kind: 'switch', describe: 'go on with an interrupted batch; what is finished is not paid for again' },
  'fail-fast': { kind: 'switch', describe: 'begin no further run once one has failed' },
  'max-total-cost-usd': { kind: 'usd', value: 'N', describe: 'most USD of all runs together' },
} as const satisfies Record<string, OptionSpec>;

const EVERY_OPTION: Record<string, OptionSpec> = { ...OPTIONS, ...BATCH_OPTIONS };

export type OptionName = keyof typeof OPTIONS;
export type BatchOptionName = keyof typeof BATCH_OPTIONS;

export const OPTION_NAMES = Object.keys(OPTIONS) as OptionName[]; // keys of the record above, nothing else

/** Flags as a command line parser yields them; all values are still texts. */
export type RawFlags = Partial<Record<OptionName | BatchOptionName, string | boolean | readonly string[]>>;

/** A value and where it came from, for messages: "--max-turns" or "AGENT_RUN_MAX_TURNS". */
export interface Given<T> {
  value: T;
  origin: string;
}

export function variableOf(name: OptionName | BatchOptionName): string {
  return `AGENT_RUN_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** Variables that look like an option's and are none: each with the name that was meant. */
export function misspeltVariables(
  env: Readonly<Record<string, string | undefined>>,
): { name: string; meant: string }[] {
  const names = Object.keys(EVERY_OPTION).map((name) => name.toUpperCase().replaceAll('-', '_'));
  return Object.keys(env).flatMap((name) => {
    const word = /^AGENT_RUN_([A-Z_]+)$/.exec(name)?.[1];
    if (word === undefined || names.includes(word)) return [];
    const meant = names.find((known) => known.startsWith(`${word}_`)) ?? nearest(word, names);
    return meant === undefined ? [] : [{ name, meant: `AGENT_RUN_${meant}` }];
  });
}

/** Texts given for one option, the strongest first; an empty variable counts as unset, an empty flag is a mistake. */
export function given(
  name: OptionName | BatchOptionName,
  flags: RawFlags,
  env: Readonly<Record<string, string | undefined>>,
): Given<string>[] {
  const flag = flags[name];
  const texts = typeof flag === 'object' ? flag : flag === undefined ? [] : [String(flag)];
  const variable = env[variableOf(name)];
  const fromFlags = texts.map((value) => ({ value, origin: `--${name}` }));
  for (const { value, origin } of fromFlags) {
    if (value === '')
      throw new UsageError(`${origin}: found "", expected ${expectation(EVERY_OPTION[name] ?? OPTIONS.out)}`);
  }
  return variable ? [...fromFlags, { value: variable, origin: variableOf(name) }] : fromFlags;
}

/** The number of a limit option; throws UsageError naming where the text came from. */
export function readNumber(spec: OptionSpec, { value, origin }: Given<string>): number {
  const number = spec.kind === 'duration' ? parseDuration(value) : plainNumber(value, spec.kind === 'count');
  if (number === undefined)
    throw new UsageError(`${origin}: found ${JSON.stringify(value)}, expected ${expectation(spec)}`);
  return number;
}

function plainNumber(text: string, whole: boolean): number | undefined {
  if (!(whole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(text)) return undefined;
  const number = Number(text);
  return number > 0 && number <= Number.MAX_SAFE_INTEGER ? number : undefined;
}

/** One of the words of a choice option. */
export function readChoice<T extends string>(choices: readonly T[], { value, origin }: Given<string>): T {
  const choice = choices.find((item) => item === value);
  if (choice !== undefined) return choice;
  const list = choices.map((item) => `"${item}"`).join(', ');
  throw new UsageError(
    `${origin}: found ${JSON.stringify(value)}, expected one of ${list}${didYouMean(value, choices)}`,
  );
}

const YES = ['1', 'true', 'yes', 'on'];
const NO = ['0', 'false', 'no', 'off'];

/** A switch; variables say 1 or 0, true or false, yes or no, on or off. */
export function readSwitch({ value, origin }: Given<string>): boolean {
  const word = value.toLowerCase();
  if (YES.includes(word)) return true;
  if (NO.includes(word)) return false;
  throw new UsageError(
    `${origin}: found ${JSON.stringify(value)}, expected 1 or 0 (also true, false, yes, no, on, off)`,
  );
}

function expectation(spec: OptionSpec): string {
  switch (spec.kind) {
    case 'count':
      return 'a whole number of at least 1';
    case 'usd':
      return 'a number above 0';
    case 'duration':
      return `a number with a unit (ms, s, m, h), above zero and at most ${MAX_TIMER_MS}ms, for example "90s"`;
    case 'choice':
      return `one of ${(spec.choices ?? []).join(', ')}`;
    default:
      return spec.value ?? 'a value';
  }
}
