// batch.jsonl: what a batch has begun and finished, one line each, so that a batch that was interrupted can go on.

import { createHash } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { relative } from 'node:path';
import { IoError, errorText } from '../core/errors.ts';
import { isJsonObject, parseJson, stringifyJson } from '../core/json.ts';
import type { RunConfig } from '../core/config.ts';

export interface Begun {
  type: 'run_begin';
  key: string;
  task: string;
  /** Relative to the batch's folder. */
  run_dir: string;
}

export interface Ended extends Omit<Begun, 'type'> {
  type: 'run_end';
  exit_code: number;
  /** The task had its verdict; false: the machine, the service or a signal ended it. */
  finished: boolean;
}

export type RecordLine = { type: 'batch_start'; runs: number } | Begun | Ended;

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
        writeSync(descriptor, text);
        // A line that says "paid for" must outlive the machine; that something began only the process.
        if (line.type === 'run_end') fsyncSync(descriptor);
      });
    },
    close: () => closeSync(descriptor),
  };
}

/** The last thing known of each run by its key; a line that a crash tore is passed over. */
export function readRecord(file: string): Map<string, Begun | Ended> {
  const last = new Map<string, Begun | Ended>();
  if (!existsSync(file)) return last;
  for (const text of readFileSync(file, 'utf8').split('\n')) {
    const line = readLine(text);
    if (line) last.set(line.key, line);
  }
  return last;
}

function readLine(text: string): Begun | Ended | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return undefined;
  const { type, key, task, run_dir, exit_code, finished } = parsed.value;
  if (typeof key !== 'string' || typeof task !== 'string' || typeof run_dir !== 'string') return undefined;
  if (type === 'run_begin') return { type, key, task, run_dir };
  if (type !== 'run_end' || typeof exit_code !== 'number') return undefined;
  return { type, key, task, run_dir, exit_code, finished: finished === true };
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
