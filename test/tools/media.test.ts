import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Media, mediaBlock, type Shows } from '../../src/tools/media.ts';
import { gif, jpeg, pdf, png, pngChunk, webp } from '../helpers/media.ts';

const ALL: Shows = { images: true, pdfs: true };

function look(bytes: Uint8Array, shows = ALL, size = bytes.length): Media | undefined {
  return mediaBlock({ bytes, size }, shows, (text) => text.replaceAll('s3cret-value', '***'));
}

function reason(bytes: Uint8Array, shows = ALL, size = bytes.length): string | undefined {
  const media = look(bytes, shows, size);
  return media?.ok === false ? media.reason : undefined;
}

describe('an image', () => {
  test.each([
    ['image/png', png(30, 20)],
    ['image/jpeg', jpeg(30, 20)],
    ['image/gif', gif(30, 20)],
    ['image/webp', webp(30, 20)],
    ['image/webp', Buffer.from(`RIFF\x16\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x1e\0\x14\0`, 'latin1')],
    ['image/webp', Buffer.from(`RIFF\x16\0\0\0WEBPVP8L\x0a\0\0\0\x2f\x1d\xc0\x04\0\0\0\0\0\0`, 'latin1')],
  ])('of type %s is a block with its size in pixels', (media_type, bytes) => {
    const source = { type: 'base64', media_type, data: bytes.toString('base64') };
    expect(look(bytes)).toEqual({ ok: true, block: { type: 'image', source, width: 30, height: 20 } });
  });

  test('B099: is refused with the limit when it is too large', () => {
    expect(reason(png(9000, 10))).toBe(
      'it is a PNG image of 9000 x 10 pixels; a side has at most 8000; make it smaller',
    );
    expect(reason(png(10, 10), ALL, 4_000_000)).toBe(
      'it is a PNG image of 4000000 bytes; an image has at most 3932160',
    );
  });

  test.each([
    ['PNG without its end', png(30, 20).subarray(0, -12)],
    ['PNG with a changed byte', png(30, 20).fill(7, 20, 21)],
    ['PNG without pixels', png(0, 20)],
    ['JPEG without its end', jpeg(30, 20).subarray(0, -2)],
    ['JPEG of a few bytes', jpeg(30, 20).subarray(0, 12)],
    ['GIF of a few bytes', gif(30, 20).subarray(0, 13)],
    ['WebP without its end', webp(30, 20).subarray(0, -1)],
  ])('is refused when it is a %s', (_kind, bytes) => {
    expect(reason(bytes)).toMatch(/^it is a \w+ image, but it is damaged or cut off$/);
  });

  test('is refused for a model that cannot be shown images', () => {
    expect(reason(png(3, 3), { images: false, pdfs: false })).toBe(
      'it is a PNG image, and this model cannot be shown images',
    );
  });

  test('is refused when a secret stands in it', () => {
    const text = pngChunk('tEXt', Buffer.from('Comment\0 s3cret-value'));
    expect(reason(png(3, 3, [text]))).toBe('a secret value stands in it');
  });
});

describe('a PDF', () => {
  test.each([[{}], [{ packed: true }]])('is a block with the number of its pages (%j)', (form) => {
    const bytes = pdf(3, form);
    const source = { type: 'base64', media_type: 'application/pdf', data: bytes.toString('base64') };
    expect(look(bytes)).toEqual({ ok: true, block: { type: 'document', source, pages: 3 } });
  });

  test.each([
    ['is cut off', pdf(3).subarray(0, 40), ALL, 'it is a PDF document, but it is damaged or cut off'],
    [
      'is locked',
      pdf(1, { trailer: '/Encrypt 9 0 R' }),
      ALL,
      'it is a PDF document, but it is protected by a password',
    ],
    ['has no pages', pdf(0), ALL, 'it is a PDF document, but it has no pages that can be found'],
    [
      'is for a model that reads none',
      pdf(1),
      { images: true, pdfs: false },
      'it is a PDF document, and this model cannot be shown PDFs',
    ],
  ])('is refused when it %s', (_why, bytes, shows, why) => {
    expect(reason(bytes, shows)).toBe(why);
  });

  test('is refused with the limit when it is too large', () => {
    expect(reason(pdf(1), ALL, 11_000_000)).toBe('it is a PDF document of 11000000 bytes; a PDF has at most 10485760');
  });
});

test('other bytes are neither', () => {
  expect(look(Buffer.from('hello'))).toBeUndefined();
  expect(look(Buffer.alloc(0))).toBeUndefined();
});

test('whatever bytes are changed or missing, the answer is a block, a reason or nothing', () => {
  const seeds = [png(30, 20), jpeg(3, 4), gif(3, 4), webp(5, 6), pdf(2), pdf(2, { packed: true })];
  const change = fc.tuple(fc.nat(400), fc.nat(255));
  const property = fc.property(
    fc.constantFrom(...seeds),
    fc.array(change, { maxLength: 6 }),
    fc.nat(600),
    (seed, changes, length) => {
      const bytes = Buffer.from(seed.subarray(0, length));
      for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
      const media = look(bytes);
      if (media?.ok && media.block.type === 'image')
        return Math.min(media.block.width ?? 0, media.block.height ?? 0) > 0;
      return media === undefined || media.ok || media.reason !== '';
    },
  );
  expect(fc.check(property, { numRuns: 3000 })).toMatchObject({ failed: false });
});
