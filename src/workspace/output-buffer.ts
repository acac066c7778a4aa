import { joinCut } from '../core/cut.ts';
import { boundsAt } from '../core/graphemes.ts';

export interface HeldOutput {
  text: string;
  /** Bytes of the whole output. */
  bytes: number;
  omitted_bytes: number;
}

/** Keeps the first and the last bytes of an endless output in bounded memory; decoding never throws. */
export class OutputBuffer {
  private readonly head: Uint8Array[] = [];
  private headLength = 0;
  private ring = Buffer.alloc(0);
  /** Bytes that went into the ring, those overwritten since included. */
  private ringTotal = 0;
  private readonly headRoom: number;
  private readonly ringRoom: number;

  /** `max_bytes` is shared by head and tail. */
  constructor(max_bytes: number) {
    this.headRoom = Math.floor(max_bytes / 2);
    this.ringRoom = Math.max(max_bytes - this.headRoom, 0);
  }

  push(chunk: Uint8Array): void {
    const first = chunk.subarray(0, this.headRoom - this.headLength);
    if (first.length > 0) this.head.push(Buffer.from(first)); // a copy: a slice would hold the whole chunk
    this.headLength += first.length;
    this.pushTail(chunk.subarray(first.length));
  }

  /** The output as one text, with the gap named when there is one. */
  finish(note = ''): HeldOutput {
    const head = Buffer.concat(this.head);
    const tail = this.tail();
    const bytes = this.headLength + this.ringTotal;
    if (this.ringTotal <= this.ringRoom) {
      return { text: Buffer.concat([head, tail]).toString('utf8'), bytes, omitted_bytes: 0 };
    }
    const headEnd = clusterEnd(head.subarray(0, wholeEnd(head)));
    const tailStart = clusterStart(tail, wholeStart(tail));
    const omitted = bytes - headEnd - (tail.length - tailStart);
    const [before, after] = [head.toString('utf8', 0, headEnd), tail.toString('utf8', tailStart)];
    return { text: joinCut(before, after, omitted, note), bytes, omitted_bytes: omitted };
  }

  private pushTail(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    if (this.ring.length < this.ringRoom) this.growRing(this.ringTotal + chunk.length);
    let rest = chunk.subarray(Math.max(chunk.length - this.ringRoom, 0));
    let at = (this.ringTotal + chunk.length - rest.length) % Math.max(this.ringRoom, 1);
    while (rest.length > 0) {
      const part = rest.subarray(0, this.ringRoom - at);
      this.ring.set(part, at);
      rest = rest.subarray(part.length);
      at = (at + part.length) % this.ringRoom;
    }
    this.ringTotal += chunk.length;
  }

  /** Small outputs, the normal case, need no full ring. */
  private growRing(needed: number): void {
    const size = Math.min(Math.max(needed, this.ring.length * 2), this.ringRoom);
    if (size > this.ring.length) this.ring = Buffer.concat([this.ring], size);
  }

  private tail(): Buffer {
    if (this.ringTotal <= this.ringRoom) return this.ring.subarray(0, this.ringTotal);
    const at = this.ringTotal % Math.max(this.ringRoom, 1);
    return Buffer.concat([this.ring.subarray(at), this.ring.subarray(0, at)]);
  }
}

/** Holds back the started code point at the end of a stream's chunk, so that another stream cannot land inside it. */
export class WholeCodePoints {
  private rest: Buffer = Buffer.alloc(0);

  push(chunk: Uint8Array): Buffer {
    const given = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const bytes = this.rest.length === 0 ? given : Buffer.concat([this.rest, given]);
    const end = wholeEnd(bytes);
    this.rest = Buffer.from(bytes.subarray(end)); // a copy: a view would hold the whole chunk
    return bytes.subarray(0, end);
  }

  flush(): Buffer {
    return this.rest;
  }
}

/** Without what stands last, unless that is ASCII: what belonged to it (an accent, a modifier) may be in the gap. */
function clusterEnd(bytes: Uint8Array): number {
  const last = bytes.length - 1;
  const { start } = boundsAt(bytes, last);
  // A byte of its own above ASCII is no UTF-8.
  return (bytes[last] ?? 0) < 0x80 || start === last ? bytes.length : start;
}

/** The same at the beginning, of bytes from `start` on. */
function clusterStart(bytes: Uint8Array, start: number): number {
  const { end } = boundsAt(bytes.subarray(start), 1);
  return (bytes[start] ?? 0) < 0x80 || end === 1 ? start : start + end;
}

/** Where the last whole code point ends; bytes that are no UTF-8 anyway count as whole. */
function wholeEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return wanted > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Where the first whole code point starts. */
function wholeStart(bytes: Uint8Array): number {
  for (let at = 0; at < Math.min(4, bytes.length); at += 1) {
    if (((bytes[at] ?? 0) & 0xc0) !== 0x80) return at;
  }
  return bytes.length < 4 ? bytes.length : 0; // no code point has four such bytes: it is no UTF-8 anyway
}
