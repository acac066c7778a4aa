const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of UTF-8 bytes; undefined when they are something else. */
export function strictUtf8(bytes: Uint8Array): string | undefined {
  try {
    return STRICT.decode(bytes);
  } catch {
    return undefined; // the decoder's TypeError is the expected answer to other encodings
  }
}

/** Text of any bytes: what is not UTF-8 is shown as `\xNN`, and `exact` says whether there was any. */
export function shownText(bytes: Uint8Array): { text: string; exact: boolean } {
  const strict = strictUtf8(bytes);
  if (strict !== undefined) return { text: strict, exact: true };
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    parts.push(STRICT.decode(bytes.subarray(start, at)), `\\x${(bytes[at] ?? 0).toString(16).padStart(2, '0')}`);
    at += 1;
    start = at;
  }
  parts.push(STRICT.decode(bytes.subarray(start)));
  return { text: parts.join(''), exact: false };
}

/** Length of the valid UTF-8 sequence that starts at `at`, 0 when there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > bytes.length) return 0;
  return strictUtf8(bytes.subarray(at, at + length)) === undefined ? 0 : length;
}
