const MAX_LENGTH = 100_000;

// Built from numbers: the characters themselves must not stand in a source file.
const RANGES: readonly (readonly [number, number, string])[] = [
  [0x00, 0x08, 'a control character'],
  [0x0b, 0x1f, 'a control character'],
  [0x7f, 0x9f, 'a control character'],
  [0x00ad, 0x00ad, 'an invisible character'],
  [0x061c, 0x061c, 'a text direction mark'],
  [0x180e, 0x180e, 'an invisible character'],
  [0x200b, 0x200b, 'an invisible character'],
  [0x200e, 0x200f, 'a text direction mark'],
  [0x2028, 0x2029, 'a line separator'],
  [0x202a, 0x202e, 'a text direction mark'],
  [0x2060, 0x2064, 'an invisible character'],
  [0x2066, 0x206f, 'a text direction mark'],
  [0xd800, 0xdfff, 'half of a surrogate pair'],
  [0xfeff, 0xfeff, 'a byte order mark'],
  [0xfff9, 0xfffb, 'an invisible character'],
  [0xe0000, 0xe007f, 'an invisible tag character'],
];

/** Why a text must not reach a shell (size, control or misleading characters), or nothing. */
export function findBadCharacter(text: string): string | undefined {
  if (text.length > MAX_LENGTH)
    return `it is ${text.length} characters long, the limit is ${MAX_LENGTH}; write a file and run that`;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x7f && code >= 0x20) continue;
    const range = RANGES.find(([from, to]) => code >= from && code <= to);
    if (range !== undefined) return `it holds ${range[2]} (U+${code.toString(16).toUpperCase().padStart(4, '0')})`;
  }
  return undefined;
}
