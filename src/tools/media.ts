// Files that are no text but can be looked at. Whatever a service would refuse is refused here: once in the history, a
// bad image makes every later request fail.

import type { MediaBlock } from '../core/messages.ts';
import type { Redact } from '../core/ports.ts';
import { readImage } from './image-header.ts';
import { isPdf, readPdf } from './pdf-pages.ts';

/** What the model can be shown. */
export interface Shows {
  images: boolean;
  pdfs: boolean;
}

export type Media = { ok: true; block: MediaBlock } | { ok: false; reason: string };

export interface MediaFile {
  bytes: Uint8Array;
  /** Of the whole file, of which `bytes` may be a part. */
  size: number;
}

/** Services take 5 MB of base64 for an image; this is what fits. */
const MOST_IMAGE_BYTES = Math.floor((5 * 1024 * 1024 * 3) / 4);
const MOST_PDF_BYTES = 10 * 1024 * 1024;
const MOST_PIXELS = 8000;

/** An image or a PDF as a block, by what its bytes say; undefined for bytes that are neither. */
export function mediaBlock(file: MediaFile, shows: Shows, redact: Redact): Media | undefined {
  const media = imageBlock(file, shows) ?? pdfBlock(file, shows);
  if (!media?.ok) return media;
  // Its text parts go out as they are: nothing of a picture can be masked.
  const raw = Buffer.from(file.bytes).toString('latin1');
  return redact(raw) === raw ? media : { ok: false, reason: 'a secret value stands in it' };
}

function imageBlock({ bytes, size }: MediaFile, shows: Shows): Media | undefined {
  const facts = readImage(bytes);
  if (!facts) return undefined;
  const what = `it is ${KINDS[facts.media_type] ?? 'an image'}`;
  if (!shows.images) return { ok: false, reason: `${what}, and this model cannot be shown images` };
  if (size > MOST_IMAGE_BYTES) {
    return { ok: false, reason: `${what} of ${size} bytes; an image has at most ${MOST_IMAGE_BYTES}` };
  }
  if (!facts.ok) return { ok: false, reason: `${what}, but ${facts.reason}` };
  const { width, height, media_type } = facts;
  if (Math.max(width, height) > MOST_PIXELS) {
    return {
      ok: false,
      reason: `${what} of ${width} x ${height} pixels; a side has at most ${MOST_PIXELS}; make it smaller`,
    };
  }
  const source = { type: 'base64' as const, media_type, data: base64(bytes) };
  return { ok: true, block: { type: 'image', source, width, height } };
}

function pdfBlock({ bytes, size }: MediaFile, shows: Shows): Media | undefined {
  if (!isPdf(bytes)) return undefined;
  const what = 'it is a PDF document';
  if (!shows.pdfs) return { ok: false, reason: `${what}, and this model cannot be shown PDFs` };
  if (size > MOST_PDF_BYTES) {
    return { ok: false, reason: `${what} of ${size} bytes; a PDF has at most ${MOST_PDF_BYTES}` };
  }
  const facts = readPdf(bytes);
  if (!facts.ok) return { ok: false, reason: `${what}, but ${facts.reason}` };
  const source = { type: 'base64' as const, media_type: 'application/pdf', data: base64(bytes) };
  return { ok: true, block: { type: 'document', source, pages: facts.pages } };
}

const KINDS: Record<string, string> = {
  'image/png': 'a PNG image',
  'image/jpeg': 'a JPEG image',
  'image/gif': 'a GIF image',
  'image/webp': 'a WebP image',
};

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
