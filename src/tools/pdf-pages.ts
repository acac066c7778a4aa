// What can be told of a PDF without reading it: whether it is whole, locked, and how many pages it has.

import { inflateSync } from 'node:zlib';

export type PdfFacts = { ok: true; pages: number } | { ok: false; reason: string };

/** Of packed objects, all together. */
const MOST_UNPACKED = 64 * 1024 * 1024;
const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g;
const COUNT = /\/Count\s+(\d{1,7})/g;
const PACKED = /\/Type\s*\/ObjStm\b/;

export function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-';
}

/** Pages as far as they can be counted: page objects, or what the page tree says where that is more. */
export function readPdf(bytes: Uint8Array): PdfFacts {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  if (!text.includes('%%EOF')) return { ok: false, reason: 'it is damaged or cut off' };
  if (/\/Encrypt\s*(?:\d|<<)/.test(text)) return { ok: false, reason: 'it is protected by a password' };
  const parts = [text, ...unpacked(bytes, text)];
  const found = parts.reduce((sum, part) => sum + (part.match(PAGE)?.length ?? 0), 0);
  const told = parts.flatMap((part) => [...part.matchAll(COUNT)].map(([, count]) => Number(count)));
  const pages = Math.max(found, told.length > 0 && found === 0 ? Math.max(...told) : 0);
  return pages > 0 ? { ok: true, pages } : { ok: false, reason: 'it has no pages that can be found' };
}

/** The objects that newer files hold in compressed streams. */
function unpacked(bytes: Uint8Array, text: string): string[] {
  const parts: string[] = [];
  let left = MOST_UNPACKED;
  for (const { index } of text.matchAll(/stream\r?\n/g)) {
    const head = text.slice(Math.max(0, index - 300), index);
    if (head.endsWith('end') || !PACKED.test(head.slice(head.lastIndexOf('obj')))) continue;
    const from = text.indexOf('\n', index) + 1;
    const end = text.indexOf('endstream', from);
    const part = inflate(bytes.subarray(from, end === -1 ? bytes.length : end), left);
    left -= part.length;
    parts.push(part);
  }
  return parts;
}

function inflate(packed: Uint8Array, most: number): string {
  try {
    return inflateSync(packed, { maxOutputLength: Math.max(1, most) }).toString('latin1');
  } catch {
    return ''; // another filter, damaged, or too large
  }
}
