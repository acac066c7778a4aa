import { describe, expect, test } from 'vitest';
import { admitMedia, holdMedia, NO_MEDIA, type MediaHeld } from '../../src/agent/media-room.ts';
import type { DocumentBlock, ImageBlock, ResultContent } from '../../src/core/messages.ts';

function image(width = 100, height = 100, bytes = 4): ImageBlock {
  const source = { type: 'base64' as const, media_type: 'image/png', data: 'A'.repeat(bytes) };
  return { type: 'image', source, width, height };
}

function pdf(pages: number): DocumentBlock {
  return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' }, pages };
}

function admit(content: ResultContent[], held: MediaHeld = NO_MEDIA, context_tokens: number | null = 1_000_000) {
  return admitMedia(content, { held, gauge: 0, context_tokens });
}

function words(content: readonly ResultContent[]): string[] {
  return content.map((block) => (block.type === 'text' ? block.text : block.type));
}

describe('B099: images of a whole conversation', () => {
  const twenty = holdMedia(
    NO_MEDIA,
    Array.from({ length: 20 }, () => image()),
  );

  test('may be large while they are few', () => {
    expect(admit([image(2162, 322)])).toEqual({ content: [image(2162, 322)], refused: false });
  });

  test('may not be large any more when there are many', () => {
    expect(admit([image(2162, 322), image()], twenty)).toEqual({
      content: [
        {
          type: 'text',
          text: '[the image is not shown: of more than 20 images and pages none may have a side of more than 2000 pixels, and this one is larger]',
        },
        image(),
      ],
      refused: false,
    });
  });

  test('do not become many when an earlier one is large', () => {
    const held = { ...twenty, large: 1 };
    const { content, refused } = admit([image()], held);
    expect([words(content), refused]).toEqual([[expect.stringContaining('an earlier one is larger')], true]);
  });

  test('are counted within one answer, too', () => {
    const { content } = admit(Array.from({ length: 22 }, (_, index) => image(index === 0 ? 2500 : 10, 10)));
    expect(words(content).filter((word) => word !== 'image')).toHaveLength(2);
  });

  test.each([
    [null, 100],
    [200_000, 100],
    [1_000_000, 600],
  ])('end at what a request may hold with a window of %j tokens', (context_tokens, most) => {
    const { content } = admit([image(1, 1)], { images: most, large: 0, bytes: 0 }, context_tokens);
    expect(words(content)[0]).toContain(`at most ${most} images and pages, and has ${most}`);
  });

  test('end at the bytes that a request may hold', () => {
    const { content } = admit([image()], { images: 1, large: 0, bytes: 20 * 1024 * 1024 });
    expect(words(content)[0]).toContain('at most 20971520 bytes');
  });
});

test('a document that the window has no room for is not shown', () => {
  const { content } = admit([pdf(30), pdf(30)], NO_MEDIA, 128_000);
  expect(words(content)).toEqual([
    'document',
    '[the PDF is not shown: it counts about 90000 tokens, more than the window has left]',
  ]);
});
