// What a batch is to run: each task loaded and named, mistakes kept beside the rest.

import { UsageError } from '../core/errors.ts';
import type { InputText, RunOptions } from '../config/merge.ts';
import type { Shard } from '../config/batch-options.ts';
import type { RunConfig } from '../core/config.ts';
import type { Row } from './rows.ts';

/** One run of a batch: ready, or with the mistake that keeps it from starting. */
export type Item = { name: string; file: string } & ({ config: RunConfig } | { mistake: UsageError });
export type ReadyItem = Extract<Item, { config: RunConfig }>;

export type LoadTask = (file: string, options: RunOptions) => Promise<RunConfig>;

export interface Wanted {
  file: string;
  /** Absent: the task alone. */
  row?: Row;
}

/** Loads everything, sorted by name; what shares its name with another is refused. */
export async function loadItems(wanted: readonly Wanted[], options: RunOptions, load: LoadTask): Promise<Item[]> {
  const items: Item[] = [];
  for (const one of wanted) items.push(await loadItem(one, options, load));
  return refuseDoubles(items).sort((one, other) => compare(one.name, other.name) || compare(one.file, other.file));
}

/** The part of a shard: every count-th item of the sorted list, so the order of the words does not matter. */
export function shardOf(items: readonly Item[], shard: Shard | undefined): Item[] {
  return shard ? items.filter((_, index) => index % shard.count === shard.index - 1) : [...items];
}

async function loadItem({ file, row }: Wanted, options: RunOptions, load: LoadTask): Promise<Item> {
  try {
    const { out: _batchFolder, ...config } = await load(file, row ? withRow(options, row) : options);
    const name = row ? `${config.task.name}.${row.name}` : config.task.name;
    return { name, file, config: { ...config, task: { ...config.task, name } } };
  } catch (error) {
    // UsageError: a mistake in this one; the others are still worth running.
    if (!(error instanceof UsageError)) throw error;
    if (!row) return { name: file, file, mistake: error };
    return {
      name: row.origin,
      file,
      mistake: new UsageError(`${row.origin}: ${error.message}`, { reason: error.reason }),
    };
  }
}

/** A row's values win over those of the command line; they never name a file. */
function withRow(options: RunOptions, row: Row): RunOptions {
  const texts = Object.entries(row.inputs).map(([name, value]): InputText => ({
    value: `${name}=${value}`,
    origin: row.origin,
    reads_files: false,
  }));
  const { workspace = options.workspace } = row;
  return { ...options, inputs: [...options.inputs, ...texts], ...(workspace === undefined ? {} : { workspace }) };
}

/** Two runs of one name could not be told apart in folders and reports; which of them was meant is not ours to guess. */
function refuseDoubles(items: readonly Item[]): Item[] {
  const files = new Map<string, string[]>();
  for (const { name, file } of items) files.set(name, [...(files.get(name) ?? []), file]);
  return items.map((item) => {
    const sharing = files.get(item.name) ?? [];
    if (sharing.length < 2 || 'mistake' in item) return item;
    const others = sharing.map((file) => JSON.stringify(file)).join(' and ');
    const text = `two tasks are called "${item.name}": ${others}; give each its own "name"`;
    return { name: item.name, file: item.file, mistake: new UsageError(text) };
  });
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
