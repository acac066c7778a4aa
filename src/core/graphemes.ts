// Where text may be cut and how wide it is: what a reader takes for one character (an emoji with its modifiers, a letter
// with its accents, a flag) stays whole.

let segmenter: Intl.Segmenter | undefined;

/** Made for the first text that needs it: to load the tables takes as long as a tenth of a start. */
function segmentsOf(text: string): Iterable<{ index: number; segment: string }> {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Text in which every character stands for itself; `\r\n` would be one of two. */
const PLAIN = /^[\x20-\x7e\t\n]*$/;

/** Longer clusters are no writing; they are cut between code points. */
const LONGEST_CLUSTER_BYTES = 256;

/** The beginning of a text in at most `most` UTF-16 units, well-formed. */
export function headOf(text: string, most: number): string {
  if (text.length <= most) return text.toWellFormed();
  const begun = text.slice(0, most + LONGEST_CLUSTER_BYTES);
  if (PLAIN.test(begun)) return text.slice(0, Math.max(0, most));
  let end = 0;
  for (const { index, segment } of segmentsOf(begun)) {
    if (index + segment.length > most) break;
    end = index + segment.length;
  }
  const endless = end === 0 && most >= LONGEST_CLUSTER_BYTES;
  return text.slice(0, endless ? codePointsIn(text, most) : end).toWellFormed();
}

/** The most UTF-16 units up to `most` that tear no surrogate pair. */
function codePointsIn(text: string, most: number): number {
  const unit = text.charCodeAt(most);
  return unit >= 0xdc00 && unit <= 0xdfff ? most - 1 : most;
}

/** A text in at most `most` UTF-16 units, the cut shown by an ellipsis. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text.toWellFormed() : `${headOf(text, most - 1)}…`;
}

export interface Bounds {
  /** The nearest boundary at or before the place. */
  start: number;
  /** The nearest boundary at or behind it. */
  end: number;
}

/** Where UTF-8 text may be cut nearest to a place in its bytes; both are the place itself when it may be cut there. */
export function boundsAt(bytes: Uint8Array, place: number): Bounds {
  const at = Math.min(Math.max(place, 0), bytes.length);
  const codePoint = { start: codePointStart(bytes, at), end: codePointEnd(bytes, at) };
  if (at === 0 || at === bytes.length) return codePoint;
  const from = codePointStart(bytes, at - LONGEST_CLUSTER_BYTES);
  const to = codePointStart(bytes, Math.min(at + LONGEST_CLUSTER_BYTES, bytes.length));
  const window = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');
  if (PLAIN.test(window)) return codePoint;
  // Bytes that are no UTF-8 have no clusters, and other lengths than what stands for them.
  if (window.includes('\ufffd')) return codePoint;
  let start = from;
  for (const { segment } of segmentsOf(window)) {
    const end = start + Buffer.byteLength(segment);
    if (start === at) return { start, end: at };
    const whole = (start > from || from === 0) && (end < to || to === bytes.length);
    if (end > at) return whole ? { start, end } : codePoint;
    start = end;
  }
  return codePoint;
}

const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;
const PICTURE = /^\p{Emoji_Presentation}|^\p{Regional_Indicator}|\ufe0f/u;
const UNSEEN = /^[\p{M}\p{Cf}]+$/u;

/** How many columns of a terminal a text takes: two for CJK and emoji, none for what only modifies. */
export function columnsOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of segmentsOf(text)) {
    if (UNSEEN.test(segment)) continue;
    columns += WIDE.test(segment) || PICTURE.test(segment) ? 2 : 1;
  }
  return columns;
}

/** A text with spaces behind it up to a number of columns. */
export function padColumns(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

/** A code point has three continuation bytes at most; what has more is no UTF-8 and may be cut anywhere. */
const MOST_CONTINUATION = 3;

function codePointStart(bytes: Uint8Array, index: number): number {
  const place = Math.max(index, 0);
  for (let at = place; at >= Math.max(0, place - MOST_CONTINUATION); at -= 1) {
    if (at === 0 || at >= bytes.length || !isContinuation(bytes, at)) return at;
  }
  return place;
}

function codePointEnd(bytes: Uint8Array, index: number): number {
  for (let at = index; at <= index + MOST_CONTINUATION; at += 1) {
    if (at >= bytes.length || !isContinuation(bytes, at)) return at;
  }
  return index;
}

function isContinuation(bytes: Uint8Array, at: number): boolean {
  return ((bytes[at] ?? 0) & 0xc0) === 0x80;
}
