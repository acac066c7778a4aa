import { describe, expect, test } from 'vitest';
import { countedBytes, mediaTokens, roughTokens, shownTo } from '../../src/core/media.ts';
import { modelConfig } from '../model/setup.ts';
import type { DocumentBlock, ImageBlock, Message } from '../../src/core/messages.ts';

const source = { type: 'base64' as const, media_type: 'image/png', data: 'A'.repeat(400_000) };
const image: ImageBlock = { type: 'image', source, width: 1500, height: 500 };
const pdf: DocumentBlock = { type: 'document', source: { ...source, media_type: 'application/pdf' }, pages: 4 };

describe('what images and documents count', () => {
  test('an image counts by its pixels, up to the size that services shrink it to', () => {
    expect(mediaTokens(image)).toBe(1000);
    expect(mediaTokens({ ...image, width: 8000, height: 8000 })).toBe(4800);
    expect(mediaTokens({ type: 'image', source })).toBe(4800);
  });

  test('a document counts by its pages', () => {
    expect(mediaTokens(pdf)).toBe(12_000);
  });

  test('the text around them counts by its bytes, wherever they stand', () => {
    const text = 'x'.repeat(4000);
    const rough = roughTokens([{ type: 'tool_result', content: [{ type: 'text', text }, image, pdf] }]);
    expect(rough).toBeGreaterThan(14_000);
    expect(rough).toBeLessThan(14_100);
  });

  test('a request is estimated without the letters that carry them', () => {
    const messages: Message[] = [
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [image] }, pdf] },
    ];
    expect(countedBytes(801_000, messages, 2)).toBe(1000 + 2 * 13_000);
  });
});

test.each([
  [{ provider: 'anthropic' }, true, true],
  [{ provider: 'script' }, true, true],
  [{ provider: 'openai' }, true, false],
  [{ provider: 'openai', images: false }, false, false],
  [{ provider: 'anthropic', images: false }, false, false],
] as const)('a model %j is shown images: %j, PDFs: %j', (model, images, pdfs) => {
  expect(shownTo(modelConfig(model))).toEqual({ images, pdfs });
});
