// Flag > AGENT_RUN_<OPTION> > task > default; for limits the tightest of those given.

import { UsageError } from '../core/errors.ts';
import {
  type BatchOptionName,
  type Color,
  COLORS,
  type Format,
  FORMATS,
  type Given,
  given,
  type OptionName,
  OPTIONS,
  type RawFlags,
  readChoice,
  readNumber,
  readSwitch,
} from './options.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** One NAME=VALUE text. Only a flag can name a file with `@`: what stands in a variable may be a stranger's words. */
export interface InputText extends Given<string> {
  reads_files: boolean;
}

/** What the caller decided, wherever it was said; absent: the task or the default decides. */
export interface RunOptions {
  inputs: InputText[];
  out?: string;
  workspace?: string;
  model?: string;
  max_turns?: number;
  max_cost_usd?: number;
  timeout_ms?: number;
  task_ref?: string;
  untrusted: boolean;
  keep?: number;
  format: Format;
  quiet: boolean;
  verbose: boolean;
  color: Color;
  dry_run: boolean;
}

/** Reads flags and environment; throws UsageError for a value of the wrong form, wherever it stands. */
export function mergeOptions(flags: RawFlags, env: Env): RunOptions {
  const text = (name: OptionName): string | undefined => single(name, flags, env)[0]?.value;
  const limit = (name: OptionName): number | undefined => {
    const numbers = single(name, flags, env).map((item) => readNumber(OPTIONS[name], item));
    return numbers.length > 0 ? Math.min(...numbers) : undefined;
  };
  const option = (name: OptionName): boolean => given(name, flags, env).map(readSwitch)[0] ?? false;
  const choice = <T extends string>(name: OptionName, choices: readonly T[], fallback: T): T =>
    single(name, flags, env).map((item) => readChoice(choices, item))[0] ?? fallback;
  const keep = single('keep', flags, env).map((item) => readNumber(OPTIONS.keep, item))[0];
  const merged: RunOptions = {
    inputs: inputTexts(flags, env),
    ...defined('out', text('out')),
    ...defined('workspace', text('workspace')),
    ...defined('model', text('model')),
    ...defined('max_turns', limit('max-turns')),
    ...defined('max_cost_usd', limit('max-cost-usd')),
    ...defined('timeout_ms', limit('timeout')),
    ...defined('task_ref', text('task-ref')),
    // Either side may add caution, neither can take it away.
    untrusted: given('untrusted', flags, env).map(readSwitch).includes(true),
    ...defined('keep', keep),
    format: choice('format', FORMATS, 'text'),
    quiet: option('quiet'),
    verbose: option('verbose'),
    color: choice('color', COLORS, 'auto'),
    dry_run: option('dry-run'),
  };
  if (flags.quiet === true && flags.verbose === true)
    throw new UsageError('--quiet and --verbose exclude each other; give one of them');
  return merged;
}

/** The tighter of two limits; null and undefined are none. */
export function tightest(own: number | null, other: number | undefined): number | null {
  if (own === null) return other ?? null;
  return other === undefined ? own : Math.min(own, other);
}

/** Texts of an option that may be given once; the message of a repetition shows both values. */
export function single(name: OptionName | BatchOptionName, flags: RawFlags, env: Env): Given<string>[] {
  const all = given(name, flags, env);
  const repeated = all.filter(({ origin }) => origin === `--${name}`);
  if (repeated.length < 2) return all;
  const values = repeated.map(({ value }) => JSON.stringify(value)).join(' and ');
  throw new UsageError(`--${name}: found ${values}, expected it once`);
}

/** A variable holds one NAME=VALUE a line; a flag of the same name comes later and wins. */
function inputTexts(flags: RawFlags, env: Env): InputText[] {
  const all = given('input', flags, env);
  const lines = all
    .filter(({ origin }) => origin !== '--input')
    .flatMap(({ value, origin }) => value.split(/\r?\n/).map((line) => ({ value: line, origin, reads_files: false })));
  const texts = all.filter(({ origin }) => origin === '--input').map((item) => ({ ...item, reads_files: true }));
  return [...lines.filter(({ value }) => value.trim() !== ''), ...texts];
}

function defined<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Partial<Record<K, V>>); // exactly the one key of the type
}
