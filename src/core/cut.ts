export interface Cut {
  text: string;
  /** Bytes left out of the middle; 0 when nothing was. */
  omitted_bytes: number;
}

/** Keeps head and tail of a text within `max_bytes` of UTF-8 and says how much is missing; never splits a code point. */
export function cutMiddle(text: string, max_bytes: number, note = ''): Cut {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= max_bytes) return { text, omitted_bytes: 0 };
  const half = Math.floor(max_bytes / 2);
  const head = bytes.subarray(0, codePointStart(bytes, half));
  const tail = bytes.subarray(codePointStart(bytes, bytes.length - half));
  const omitted = bytes.length - head.length - tail.length;
  return { text: joinCut(head.toString('utf8'), tail.toString('utf8'), omitted, note), omitted_bytes: omitted };
}

/** The one form in which a gap is shown, whoever did the cutting. */
export function joinCut(head: string, tail: string, omitted_bytes: number, note: string): string {
  return `${head}\n[… ${omitted_bytes} bytes left out${note ? `; ${note}` : ''} …]\n${tail}`;
}

/** The nearest index at or before `index` at which a UTF-8 code point starts. */
export function codePointStart(bytes: Uint8Array, index: number): number {
  let at = Math.min(Math.max(index, 0), bytes.length);
  while (at > 0 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}
