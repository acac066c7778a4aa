import { boundsAt } from './graphemes.ts';

export interface Cut {
  text: string;
  /** Bytes left out of the middle; 0 when nothing was. */
  omitted_bytes: number;
}

/** Keeps head and tail of a text within `max_bytes` of UTF-8 and says how much is missing; never splits what a reader takes for one character. */
export function cutMiddle(text: string, max_bytes: number, note = ''): Cut {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= max_bytes) return { text, omitted_bytes: 0 };
  const half = Math.floor(max_bytes / 2);
  const head = bytes.subarray(0, boundsAt(bytes, half).start);
  const tail = bytes.subarray(boundsAt(bytes, bytes.length - half).end);
  const omitted = bytes.length - head.length - tail.length;
  return { text: joinCut(head.toString('utf8'), tail.toString('utf8'), omitted, note), omitted_bytes: omitted };
}

/** The one form in which a gap is shown, whoever did the cutting. */
export function joinCut(head: string, tail: string, omitted_bytes: number, note: string): string {
  return `${head}\n[… ${omitted_bytes} bytes left out${note ? `; ${note}` : ''} …]\n${tail}`;
}
