// Files as texts: the task and what it names, with a size cap, strict UTF-8 and errors as values.

import { open, readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { didYouMean } from '../core/nearest.ts';

/** A text that was read, under the name that messages use. */
export interface Source {
  file: string;
  /** To the byte. */
  raw: string;
  /** Without a byte order mark. */
  text: string;
  format: 'json' | 'yaml';
}

export type ReadResult = { ok: true; text: string } | { ok: false; reason: string };

/** Reads one file by absolute path: the disk, or a commit. */
export type ReadFile = (path: string) => Promise<ReadResult>;

export const MAX_TASK_BYTES = 1024 ** 2;
export const MAX_NAMED_BYTES = 16 * 1024 ** 2;

/** YAML by extension, everything else is JSON. */
export function formatOf(file: string): Source['format'] {
  return /\.ya?ml$/i.test(file) ? 'yaml' : 'json';
}

/** A text that was read, as a source under the name that messages use. */
export function sourceOf(file: string, text: string): Source {
  return { file, raw: text, text: text.replace(/^\ufeff/, ''), format: formatOf(file) };
}

/** Reads a file of the disk up to `max_bytes`; the reason of a failure ends a sentence like "cannot read X: ". */
export async function readDisk(path: string, max_bytes: number): Promise<ReadResult> {
  try {
    const handle = await open(path, 'r');
    try {
      const chunks: Buffer[] = [];
      let size = 0;
      // By hand instead of readFile, because pipes and devices have no size to check beforehand.
      for await (const chunk of handle.createReadStream({ end: max_bytes, autoClose: false })) {
        const bytes = chunk as Buffer; // a stream without encoding yields nothing else
        chunks.push(bytes);
        size += bytes.length;
      }
      return size > max_bytes ? tooLarge(max_bytes) : decode(Buffer.concat(chunks));
    } finally {
      await handle.close();
    }
  } catch (error) {
    // The file system says why: missing, a folder, no permission.
    return { ok: false, reason: await explain(path, error) };
  }
}

/** Reads standard input to its end; only called when the command line names it. */
export async function readStream(stream: AsyncIterable<unknown>, max_bytes: number): Promise<ReadResult> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array); // stdin without encoding yields bytes
    size += bytes.length;
    if (size > max_bytes) return tooLarge(max_bytes);
    chunks.push(bytes);
  }
  return decode(Buffer.concat(chunks));
}

/** Bytes as text, to the byte; anything that is not UTF-8 is refused. */
export function decode(bytes: Uint8Array): ReadResult {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    // TextDecoder throws a TypeError for malformed bytes and nothing else.
    return { ok: false, reason: 'it is not valid UTF-8' };
  }
}

function tooLarge(max_bytes: number): ReadResult {
  return { ok: false, reason: `it is larger than ${max_bytes} bytes` };
}

async function explain(path: string, error: unknown): Promise<string> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return `no such file${didYouMean(basename(path), await siblings(path))}`;
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return code || String(error);
}

async function siblings(path: string): Promise<string[]> {
  // A folder that cannot be listed offers no names.
  return readdir(dirname(path)).catch(() => []);
}
