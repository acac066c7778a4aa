// A mistake in a value of the task that only shows when the value is used gets its place in the file after all.

import { resolve } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { openPositions, type Position } from './positions.ts';
import { MAX_TASK_BYTES, readDisk, sourceOf } from './source.ts';

/** The same mistake with file, line and column; any other error, and one that has its place, as it is. */
export async function locate(
  error: unknown,
  task: { file: string; ref: string | null },
  cwd: string,
): Promise<unknown> {
  if (!(error instanceof UsageError) || error.place || error.pointer === undefined) return error;
  const { message, reason, next, pointer } = error;
  const position = await positionOf(pointer, task, cwd);
  return new UsageError(message, {
    place: { file: task.file, pointer, ...position },
    reason,
    ...(next === undefined ? {} : { next }),
    cause: error,
  });
}

/** Standard input is read once, and a commit may hold another text than the disk: then the pointer has to do. */
async function positionOf(
  pointer: string,
  { file, ref }: { file: string; ref: string | null },
  cwd: string,
): Promise<Position> {
  if (file === '-' || ref !== null) return {};
  const read = await readDisk(resolve(cwd, file), MAX_TASK_BYTES);
  return read.ok ? (await openPositions(sourceOf(file, read.text)))(pointer, false) : {};
}
