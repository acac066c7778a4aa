// Where `report --out` writes: a new file or in place of one, never over a device, a link, or what the report is made of.

import { createWriteStream, lstatSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { basename, dirname, join, relative, isAbsolute, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorText, UsageError } from '../core/errors.ts';
import { nameOf } from '../reports/safe-file.ts';

/** Throws UsageError for a target that is there and no regular file. A link is neither followed nor replaced: `/dev/stdout` is one. */
export function refuseOddTarget(file: string): void {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined || stat.isFile()) return;
  throw new UsageError(
    `--out: found ${nameOf(stat)}, ${file}, expected the file to write; without --out the report goes to stdout`,
  );
}

/** Throws UsageError for a target that is one of the sources or lies in one: a report must not change what it tells of. */
export function refuseSource(file: string, sources: readonly string[]): void {
  const place = placeOf(file);
  if (place === undefined) return; // writing says why
  for (const source of sources) {
    const real = realPath(source) ?? placeOf(source);
    if (real !== undefined && isWithin(real, place)) {
      throw new UsageError(`--out: ${file} belongs to ${source}, which the report is made of; name a file elsewhere`);
    }
  }
}

/** Where a file stands or would stand. */
function placeOf(file: string): string | undefined {
  const folder = realPath(dirname(file));
  return folder === undefined ? undefined : join(folder, basename(file));
}

function isWithin(folder: string, place: string): boolean {
  const way = relative(folder, place);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // ENOENT, EACCES, ELOOP
  }
}

/** Replaces the file in one step, so that nobody finds half a report. */
export async function writeReport(pieces: AsyncIterable<string>, file: string): Promise<void> {
  const temporary = join(dirname(file), `.${basename(file).slice(0, 100)}.${randomBytes(3).toString('hex')}.tmp`);
  try {
    await pipeline(Readable.from(pieces), createWriteStream(temporary, { flags: 'wx', mode: 0o600 }));
    refuseOddTarget(file); // it took its time
    renameSync(temporary, file);
  } catch (error) {
    // ENOENT, EACCES, ENOSPC: the caller chose the place. Half a report is of no use.
    rmSync(temporary, { force: true });
    if (!(error instanceof Error && 'code' in error)) throw error;
    const text = `cannot write the report ${file}: ${errorText(error)}; name another with --out`;
    throw new UsageError(text, { cause: error });
  }
}
