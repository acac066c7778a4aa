import { isUtf8 } from 'node:buffer';

export type Decoded = { ok: true; text: string; valid: boolean } | { ok: false; reason: string };

const MAGIC: readonly (readonly [kind: string, prefix: string, offset?: number])[] = [
  ['a PNG image', '\x89PNG\r\n\x1a\n'],
  ['a JPEG image', '\xff\xd8\xff'],
  ['a GIF image', 'GIF8'],
  ['a WebP image', 'WEBP', 8],
  ['a PDF document', '%PDF-'],
  ['a ZIP archive', 'PK\x03\x04'],
  ['a gzip archive', '\x1f\x8b'],
  ['an ELF program', '\x7fELF'],
  ['UTF-16 text', '\xff\xfe'],
  ['UTF-16 text', '\xfe\xff'],
];
const SNIFFED = 8192;

/** Text of a file's bytes, byte order mark included; what is no text is refused with what it seems to be. */
export function decodeText(bytes: Uint8Array): Decoded {
  const kind = binaryKind(bytes);
  if (kind !== undefined) return { ok: false, reason: `it is ${kind}, not UTF-8 text` };
  return { ok: true, text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), valid: isUtf8(bytes) };
}

/** What bytes that are no text seem to be, judged by their own first bytes and never by the file's name. */
export function binaryKind(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, SNIFFED)).toString('latin1');
  const known = MAGIC.find(([, prefix, offset = 0]) => head.startsWith(prefix, offset));
  if (known) return known[0];
  return head.includes('\0') ? 'a binary file' : undefined;
}

/** Lines without their ends; a final newline makes no further line. */
export function splitLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  if (text.endsWith('\n')) lines.pop();
  return lines;
}

/** The number of the line, from 1, that holds an index of a text. */
export function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
