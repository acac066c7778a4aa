import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { IoError, UsageError, errorText } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import { TRANSCRIPT_VERSION } from '../core/events.ts';
import type { EventBody, RunEvent } from '../core/events.ts';
import type { Clock, Journal } from '../core/ports.ts';

export interface JournalFile extends Journal {
  /** The event as the next line would hold it, for those who must hear what cannot be written. */
  stamp(body: EventBody): RunEvent;
  close(): void;
}

/** Opens the transcript for appending; each event is one whole line, written before `append` returns. */
export function openJournal(file: string, run_id: string, clock: Clock, last_seq = 0): JournalFile {
  const descriptor = open(file);
  let seq = last_seq;
  let closed = false;
  const stamp = (body: EventBody): RunEvent => ({
    seq: seq + 1,
    time: new Date(clock.now()).toISOString(),
    run_id,
    ...body,
  });
  return {
    stamp,
    append(body) {
      // The number of a closed descriptor may be that of another run's transcript by now.
      if (closed) throw new Error(`a ${body.type} came after the end of ${file}`);
      const event = stamp(body);
      writeLine(descriptor, file, `${stringifyJson(event)}\n`);
      seq += 1;
      if (body.type === 'run_end') sync(descriptor, file);
      return event;
    },
    close() {
      closed = true;
      closeSync(descriptor);
    },
  };
}

function open(file: string): number {
  try {
    return openSync(file, 'a', 0o600);
  } catch (error) {
    // A folder that cannot be written is the caller's to mend.
    throw new UsageError(`cannot write the transcript ${file}: ${errorText(error)}`, { cause: error });
  }
}

function writeLine(descriptor: number, file: string, line: string): void {
  const bytes = Buffer.from(line, 'utf8');
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
  } catch (error) {
    // A full or vanished disk: what is not recorded must not happen, nor may half a line stand before a later one.
    takeBack(descriptor, written);
    throw new IoError(`cannot write the transcript ${file}: ${errorText(error)}`, { cause: error });
  }
}

function takeBack(descriptor: number, bytes: number): void {
  if (bytes === 0) return;
  try {
    ftruncateSync(descriptor, fstatSync(descriptor).size - bytes);
  } catch {
    // The disk is gone altogether; reading leaves a torn last line out.
  }
}

function sync(descriptor: number, file: string): void {
  try {
    fsyncSync(descriptor);
  } catch (error) {
    // EIO and friends: the disk did not take the run's last line.
    throw new IoError(`cannot flush the transcript ${file}: ${errorText(error)}`, { cause: error });
  }
}

export interface ReadJournal {
  events: RunEvent[];
  /** Bytes of a last line that was cut by a crash; 0 when the file is whole. */
  torn_bytes: number;
}

/** Reads a transcript back. A torn last line is left out; any other broken line is a UsageError naming it. */
export function readJournal(file: string): ReadJournal {
  if (!existsSync(file)) throw new UsageError(`there is no transcript ${file}`);
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf(0x0a) + 1;
  const lines = bytes.subarray(0, end).toString('utf8').split('\n');
  const events = lines.flatMap((line, index) => (line === '' ? [] : [parseLine(line, file, index + 1)]));
  return { events, torn_bytes: bytes.length - end };
}

/** Cuts a torn last line off, so that appending continues with a whole one. */
export function mendJournal(file: string, torn_bytes: number): void {
  if (torn_bytes > 0) truncateSync(file, readFileSync(file).length - torn_bytes);
}

function parseLine(line: string, file: string, number: number): RunEvent {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (error) {
    // A line that is no JSON: not written by us, or damaged.
    throw new UsageError(`broken transcript line: ${errorText(error)}`, {
      place: { file, line: number },
      cause: error,
    });
  }
  if (typeof event !== 'object' || event === null || !('type' in event) || !('seq' in event)) {
    throw new UsageError('not a transcript line: "type" and "seq" are missing', { place: { file, line: number } });
  }
  checkVersion(event, file, number);
  return event as RunEvent; // written by openJournal in this version, or by hand at the reader's risk
}

function checkVersion(event: object, file: string, line: number): void {
  const version = 'transcript_version' in event ? event.transcript_version : TRANSCRIPT_VERSION;
  if (typeof version === 'number' && version <= TRANSCRIPT_VERSION) return;
  const text = `transcript version ${String(version)} is newer than this agent-run understands (${TRANSCRIPT_VERSION}); update agent-run`;
  throw new UsageError(text, { place: { file, line } });
}
