// Sizes of images, read from their own bytes; whether all of an image is there is seen as far as it costs little.

import { crc32 } from 'node:zlib';

export type ImageFacts =
  | { ok: true; media_type: string; width: number; height: number }
  | { ok: false; media_type: string; reason: string };

const DAMAGED = 'it is damaged or cut off';

/** The type and size in pixels of a PNG, JPEG, GIF or WebP image; undefined for other bytes. */
export function readImage(bytes: Uint8Array): ImageFacts | undefined {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const format = FORMATS.find(({ is }) => is(data));
  if (!format) return undefined;
  const { media_type } = format;
  const size = format.size(data);
  return size && size.width > 0 && size.height > 0
    ? { ok: true, media_type, ...size }
    : { ok: false, media_type, reason: DAMAGED };
}

interface Size {
  width: number;
  height: number;
}

interface Format {
  media_type: string;
  is: (data: Buffer) => boolean;
  /** undefined for an image that is damaged. */
  size: (data: Buffer) => Size | undefined;
}

const FORMATS: readonly Format[] = [
  { media_type: 'image/png', is: (data) => begins(data, '\x89PNG\r\n\x1a\n'), size: pngSize },
  { media_type: 'image/jpeg', is: (data) => begins(data, '\xff\xd8\xff'), size: jpegSize },
  { media_type: 'image/gif', is: (data) => begins(data, 'GIF87a') || begins(data, 'GIF89a'), size: gifSize },
  { media_type: 'image/webp', is: (data) => begins(data, 'RIFF') && begins(data, 'WEBP', 8), size: webpSize },
];

function begins(data: Buffer, text: string, at = 0): boolean {
  return data.toString('latin1', at, at + text.length) === text;
}

/** Chunks: length, type, data, checksum; the first is IHDR and the last IEND. */
function pngSize(data: Buffer): Size | undefined {
  let size: Size | undefined;
  let seen = '';
  for (let at = 8; at + 12 <= data.length;) {
    const length = data.readUInt32BE(at);
    const type = data.toString('latin1', at + 4, at + 8);
    const end = at + 8 + length;
    if (end + 4 > data.length) return undefined;
    // Decoders pass over what they need not know, and some writers get its checksum wrong.
    const needed = /^[A-Z]/.test(type);
    if (needed && crc32(data.subarray(at + 4, end)) !== data.readUInt32BE(end)) return undefined;
    if (at === 8) {
      if (type !== 'IHDR' || length !== 13) return undefined;
      size = { width: data.readUInt32BE(at + 8), height: data.readUInt32BE(at + 12) };
    }
    if (type === 'IDAT') seen = type;
    if (type === 'IEND') return seen === 'IDAT' ? size : undefined;
    at = end + 4;
  }
  return undefined;
}

/** Segments: 0xff, marker, length, data; the size stands in the frame header, before the scan. */
function jpegSize(data: Buffer): Size | undefined {
  let size: Size | undefined;
  for (let at = 2; at + 4 <= data.length;) {
    if (data[at] !== 0xff) return undefined;
    const marker = data[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1; // padding
      continue;
    }
    const length = data.readUInt16BE(at + 2);
    if (isFrame(marker) && at + 9 <= data.length) {
      size = { height: data.readUInt16BE(at + 5), width: data.readUInt16BE(at + 7) };
    }
    if (marker === 0xda) return data.lastIndexOf('\xff\xd9', undefined, 'latin1') > at ? size : undefined;
    at += 2 + Math.max(2, length);
  }
  return undefined;
}

/** SOF0 to SOF15 but the tables that lie between them. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function gifSize(data: Buffer): Size | undefined {
  if (data.length < 14 || data.lastIndexOf(0x3b) < 13) return undefined;
  return { width: data.readUInt16LE(6), height: data.readUInt16LE(8) };
}

function webpSize(data: Buffer): Size | undefined {
  if (data.length < 30 || data.readUInt32LE(4) + 8 > data.length) return undefined;
  switch (data.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 };
    case 'VP8 ':
      return { width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = data.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    default:
      return undefined;
  }
}
