import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runBatch, type BatchResult } from '../../src/batch/batch.ts';
import { mergeBatchOptions } from '../../src/config/batch-options.ts';
import { loadRun } from '../../src/config/load.ts';
import { mergeOptions } from '../../src/config/merge.ts';
import { listen } from '../../src/run/interrupts.ts';
import { tempTree } from '../helpers/temp.ts';
import type { ReportRun } from '../../src/batch/report.ts';
import type { BatchWatch } from '../../src/batch/state.ts';
import type { ScriptTurn } from '../../src/core/config.ts';

export type BatchFlags = Record<string, string | boolean>;

export interface ToldBatch extends BatchResult {
  cwd: string;
  /** Runs in the order in which they ended. */
  ended: ReportRun[];
  run: (name: string) => ReportRun | undefined;
}

/** The text of a task with a scripted model. */
export function taskText(turns: ScriptTurn[], fields: Record<string, unknown> = {}): string {
  const { prices, ...rest } = fields;
  const model = { provider: 'script', script: { turns }, ...(prices === undefined ? {} : { prices }) };
  return JSON.stringify({ prompt: 'Do it.', model, sandbox: { mode: 'off' }, ...rest });
}

/** A folder with files in it: the current folder of a batch. */
export function batchFolder(files: Record<string, string>): string {
  return tempTree(files);
}

/** Runs a batch as the command line would, without its process. */
export async function tellBatch(
  cwd: string,
  words: string[],
  flags: BatchFlags = {},
  watch: Partial<BatchWatch> & { cancel_after?: number } = {},
): Promise<ToldBatch> {
  const env = { PATH: process.env['PATH'] ?? '' };
  const ended: ReportRun[] = [];
  const interrupts = listen();
  const readStdin = async () => ({ ok: false as const, reason: 'no stdin in tests' });
  try {
    const result = await runBatch({
      words,
      options: mergeOptions(flags, env),
      batch: mergeBatchOptions(flags, env),
      env,
      cwd,
      load: (file, options) => loadRun({ file, options, env, cwd, readStdin }),
      interrupts,
      watch: {
        begin: () => {},
        note: () => {},
        end: () => {},
        subscribers: () => () => [],
        ...watch,
        ended(run, fault) {
          ended.push(run);
          watch.ended?.(run, fault);
          if (ended.length === watch.cancel_after) interrupts.abort({ reason: 'cancelled', signal: 'SIGTERM' });
        },
      },
    });
    const run = (name: string): ReportRun | undefined => result.report.runs.find(({ task }) => task === name);
    return { ...result, cwd, ended, run };
  } finally {
    interrupts.dispose();
  }
}

/** A JSON file of a batch's folder. */
export function readJson(...path: string[]): unknown {
  return JSON.parse(readFileSync(join(...path), 'utf8'));
}
