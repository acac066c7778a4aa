import { parseJson, type JsonObject, isJsonObject } from '../core/json.ts';
import { TRANSCRIPT_VERSION } from '../core/events.ts';
import { showBytes } from '../core/figures.ts';
import { fieldOf } from './fields.ts';
import { openRegular } from './safe-file.ts';
import type { FileHandle } from 'node:fs/promises';

const MAX_TRANSCRIPT_BYTES = 1024 ** 3;
/** A line above this is passed over: it would have to be held whole. */
const MAX_LINE_BYTES = 16 * 1024 ** 2;
const PIECE_BYTES = 256 * 1024;

/** One event as it stands in the file, or what is wrong at a place; after `stop: true` nothing follows. */
export type TranscriptItem =
  | { kind: 'event'; event: JsonObject; line: number; bytes: number }
  | { kind: 'problem'; problem: string; stop: boolean };

/**
 * The events of a transcript, one after the other; never more than one line is held. What cannot be read is said and
 * passed over; a transcript of a newer version ends it.
 */
export async function* readTranscript(path: string): AsyncGenerator<TranscriptItem, void> {
  const opened = await openRegular(path, MAX_TRANSCRIPT_BYTES);
  if (opened.kind !== 'file') {
    const problem = opened.kind === 'missing' ? `there is no transcript ${path}` : opened.problem;
    yield { kind: 'problem', problem, stop: true };
    return;
  }
  try {
    for await (const line of linesOf(opened.file, opened.bytes)) {
      const item = readLine(line, path);
      yield item;
      if (item.kind === 'problem' && item.stop) return;
    }
  } finally {
    await opened.file.close();
  }
}

export interface Line {
  number: number;
  /** Null: too long to be held. */
  text: string | null;
  bytes: number;
  /** False: the file ends before its line break. */
  whole: boolean;
}

function readLine({ number, text, bytes, whole }: Line, path: string): TranscriptItem {
  const problem = (what: string, stop = false): TranscriptItem => ({
    kind: 'problem',
    problem: `${path}:${number}: ${what}`,
    stop,
  });
  if (!whole) return problem('the last line is cut off, as a killed run leaves it; it is left out');
  if (text === null)
    return problem(`the line has ${showBytes(bytes)}, more than ${showBytes(MAX_LINE_BYTES)}; it is left out`);
  const parsed = parseJson(text);
  if (!parsed.ok) return problem(`not a line of a transcript: ${parsed.error.slice(0, 200)}; it is left out`);
  const { value } = parsed;
  if (!isJsonObject(value) || typeof fieldOf(value, 'type') !== 'string')
    return problem('not a line of a transcript: "type" is missing; it is left out');
  const version = fieldOf(value, 'transcript_version') ?? TRANSCRIPT_VERSION;
  if (typeof version === 'number' && version <= TRANSCRIPT_VERSION)
    return { kind: 'event', event: value, line: number, bytes };
  const newer = `transcript version ${JSON.stringify(version).slice(0, 40)} is not one that this agent-run understands`;
  return problem(`${newer} (${TRANSCRIPT_VERSION}); use the agent-run that wrote it, or a newer one`, true);
}

/** The lines of a file as far as it reached when it was opened: a run that still writes must not be chased. */
export async function* linesOf(file: FileHandle, size: number): AsyncGenerator<Line, void> {
  const piece = Buffer.alloc(PIECE_BYTES);
  let parts: Buffer[] = [];
  let bytes = 0;
  let number = 1;
  const take = (part: Buffer): void => {
    bytes += part.length;
    if (bytes <= MAX_LINE_BYTES) parts.push(Buffer.from(part));
    else parts = [];
  };
  const finish = (whole: boolean): Line => {
    const text = bytes > MAX_LINE_BYTES ? null : Buffer.concat(parts).toString('utf8');
    const line = { number, text, bytes, whole };
    parts = [];
    bytes = 0;
    number += 1;
    return line;
  };
  for (let read = 0; read < size;) {
    const { bytesRead } = await file.read(piece, 0, Math.min(PIECE_BYTES, size - read));
    if (bytesRead === 0) break;
    read += bytesRead;
    let from = 0;
    for (let end = find(piece, 0, bytesRead); end >= 0; end = find(piece, from, bytesRead)) {
      take(piece.subarray(from, end));
      from = end + 1;
      if (bytes > 0) yield finish(true);
      else number += 1;
    }
    take(piece.subarray(from, bytesRead));
  }
  if (bytes > 0) yield finish(false);
}

function find(piece: Buffer, from: number, end: number): number {
  const at = piece.indexOf(0x0a, from);
  return at < end ? at : -1;
}
