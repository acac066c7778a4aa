// The words of a command line, and rows -> what a batch is to run.

import { resolve } from 'node:path';
import { checkoutOf } from '../config/checkout.ts';
import { MAX_NAMED_BYTES, readDisk } from '../config/source.ts';
import { untrustedReason } from '../config/trust.ts';
import { UsageError } from '../core/errors.ts';
import { isLiteral } from '../core/globs.ts';
import { expandTasks } from './expand.ts';
import { loadItems, shardOf, type Item, type Wanted } from './items.ts';
import { readRows } from './rows.ts';
import type { BatchRequest } from './state.ts';

type Collecting = Pick<BatchRequest, 'words' | 'options' | 'batch' | 'env' | 'cwd' | 'load'>;

export interface Collected {
  items: Item[];
  problems: string[];
  /** What was read to tell them, other shards' tasks included; as given. */
  files: string[];
}

/** The runs of this shard, sorted by name, and what belongs to none. Throws UsageError where nothing can be told. */
export async function collect(request: Collecting): Promise<Collected> {
  const { words, options, batch, cwd, load } = request;
  const glob = words.find((word) => !isLiteral(word));
  if (options.task_ref !== undefined && glob !== undefined) {
    // A change under review could take a reviewer away by removing its file.
    throw new UsageError(
      `--task-ref: found it together with the glob ${JSON.stringify(glob)}, which looks at the disk; name the task files`,
    );
  }
  const { files, problems } = await expandTasks(words, cwd);
  const rows = batch.rows === undefined ? undefined : await openRows(request, batch.rows);
  const wanted = rows
    ? rows.rows.map((row): Wanted => ({ file: oneFile(files), row }))
    : files.map((file) => ({ file }));
  const items = await loadItems(wanted, options, load);
  return {
    items: shardOf(items, batch.shard),
    problems: [...problems, ...(rows?.problems ?? [])],
    files: [...files, ...(batch.rows === undefined ? [] : [batch.rows]), ...items.flatMap(filesOf)],
  };
}

function filesOf(item: Item): string[] {
  return 'config' in item ? item.config.task.files : [];
}

function oneFile(files: readonly string[]): string {
  const [file] = files;
  if (file !== undefined && files.length === 1) return file;
  throw new UsageError(`--rows: found ${files.length} tasks, expected one that is run for each row`);
}

async function openRows(request: Collecting, file: string): Promise<ReturnType<typeof readRows>> {
  const { options, env, cwd } = request;
  const path = resolve(cwd, file);
  const workspace = resolve(cwd, options.workspace ?? '.');
  const reason = options.untrusted ? 'said by --untrusted or AGENT_RUN_UNTRUSTED' : untrustedReason(env);
  if (reason !== undefined && checkoutOf(workspace)(path)) {
    throw new UsageError(
      `--rows: ${JSON.stringify(file)} lies in the checkout, which a stranger may have written, and the run is untrusted (${reason}); name a file outside it`,
    );
  }
  const read = await readDisk(path, MAX_NAMED_BYTES);
  if (!read.ok) throw new UsageError(`--rows: cannot read ${JSON.stringify(file)}: ${read.reason}`);
  return readRows(read.text, file);
}
