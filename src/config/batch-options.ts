// What a command line says about several runs: flag > AGENT_RUN_<OPTION> > default.

import { UsageError } from '../core/errors.ts';
import { type Env, single } from './merge.ts';
import { BATCH_OPTIONS, type Given, given, type RawFlags, readNumber, readSwitch } from './options.ts';

export interface Shard {
  /** From 1 to `count`. */
  index: number;
  count: number;
}

export interface BatchOptions {
  workers: number;
  shard?: Shard;
  /** A file of rows as given. */
  rows?: string;
  continue: boolean;
  fail_fast: boolean;
  max_total_cost_usd?: number;
}

/** Beyond this a shard is a slip of the keyboard, and so is a number of workers. */
const MOST_SHARDS = 10_000;
const MOST_WORKERS = 256;

/** Reads flags and environment; throws UsageError for a value of the wrong form. */
export function mergeBatchOptions(flags: RawFlags, env: Env): BatchOptions {
  const [workers] = single('workers', flags, env);
  const [shard] = single('shard', flags, env);
  const [rows] = single('rows', flags, env);
  const costs = single('max-total-cost-usd', flags, env).map((item) =>
    readNumber(BATCH_OPTIONS['max-total-cost-usd'], item),
  );
  return {
    workers: workers ? readWorkers(workers) : 1,
    ...(shard ? { shard: readShard(shard) } : {}),
    ...(rows ? { rows: rows.value } : {}),
    continue: given('continue', flags, env).map(readSwitch)[0] ?? false,
    fail_fast: given('fail-fast', flags, env).map(readSwitch)[0] ?? false,
    ...(costs.length > 0 ? { max_total_cost_usd: Math.min(...costs) } : {}),
  };
}

function readWorkers(item: Given<string>): number {
  const workers = readNumber(BATCH_OPTIONS.workers, item);
  if (workers <= MOST_WORKERS) return workers;
  throw new UsageError(`${item.origin}: found ${workers}, expected at most ${MOST_WORKERS}`);
}

/** The shard that "I/N" names; undefined when it names none. */
export function parseShard(value: string): Shard | undefined {
  const [, first = '', second = ''] = /^(\d{1,9})\/(\d{1,9})$/.exec(value) ?? [];
  const [index, count] = [Number(first), Number(second)];
  return index >= 1 && index <= count && count <= MOST_SHARDS ? { index, count } : undefined;
}

function readShard({ value, origin }: Given<string>): Shard {
  const shard = parseShard(value);
  if (shard) return shard;
  const expected = `I/N with I from 1 to N and N at most ${MOST_SHARDS}, for example "1/3"`;
  throw new UsageError(`${origin}: found ${JSON.stringify(value)}, expected ${expected}`);
}
