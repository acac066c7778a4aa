// batch.jsonl: what a batch has begun and finished, one line each, so that a batch that was interrupted can go on.

import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { relative } from 'node:path';
import { IoError, errorText } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import type { RunConfig } from '../core/config.ts';

interface Named {
  key: string;
  task: string;
  /** Relative to the batch's folder. */
  run_dir: string;
}

export type RecordLine =
  | { type: 'batch_start'; runs: number; tasks: readonly { task: string; file: string }[]; not_content: string[] }
  /** With what stood in the workspace, of a run that looks at it. */
  | ({ type: 'run_begin'; workspace?: string; content?: string | null; effects?: boolean } & Named)
  /** With the commit and the content that a run with effects left its workspace at. */
  | ({
      type: 'run_end';
      exit_code: number;
      workspace?: string;
      head?: string | null;
      content?: string | null;
    } & Named)
  /** Nothing ran: an earlier batch had its verdict, or it could not begin. */
  | { type: 'run_told'; task: string; run_dir: string; exit_code: number };

export interface BatchRecord {
  /** On disk before it returns; throws IoError. */
  append(line: RecordLine): void;
  close(): void;
}

/** Opens the record, empty unless the batch goes on. */
export function openRecord(file: string, { fresh }: { fresh: boolean }): BatchRecord {
  const descriptor = guarded(file, () => openSync(file, fresh ? 'w' : 'a', 0o600));
  return {
    append(line) {
      const text = `${stringifyJson({ time: new Date().toISOString(), ...line })}\n`;
      guarded(file, () => {
        // Not flushed: what became of a run stands in its own folder, which is.
        writeSync(descriptor, text);
      });
    },
    close: () => closeSync(descriptor),
  };
}

/** The same for the same work: the task with all it read, its inputs, its model and its workspace. Limits may change. */
export function keyOf(config: RunConfig, cwd: string): string {
  const { limits: _limits, files: _files, file: _file, ...task } = config.task;
  const work = { task, workspace: relative(cwd, config.workspace), untrusted: config.untrusted };
  return createHash('sha256').update(stringifyJson(work)).digest('hex');
}

function guarded<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    // A full or vanished disk: what is not recorded would be paid for twice.
    throw new IoError(`cannot write ${file}: ${errorText(error)}`, { cause: error });
  }
}
