// Images and documents stay in the history, so one too many makes every later request fail: what the service would
// refuse beside what it was given already becomes words before it is recorded.

import { isMedia, mediaTokens } from '../core/media.ts';
import type { MediaBlock, ResultContent, ResultText } from '../core/messages.ts';

/** The images and documents of the present conversation. */
export interface MediaHeld {
  /** Images, and pages of documents. */
  images: number;
  /** Images with a side of more than LARGE_PIXELS. */
  large: number;
  /** Letters of base64. */
  bytes: number;
}

export const NO_MEDIA: MediaHeld = { images: 0, large: 0, bytes: 0 };

/** Of a request that may be 32 MB large; the rest is for text. */
const MOST_BYTES = 20 * 1024 * 1024;
const MOST_IMAGES = 600;
/** Where the window is not known to be larger than SMALL_WINDOW. */
const FEWER_IMAGES = 100;
const SMALL_WINDOW = 200_000;
/** Of more images than this none may be large. */
const MANY_IMAGES = 20;
const LARGE_PIXELS = 2000;
/** The share of a window that images and documents may fill with all else. */
const FULL_SHARE = 0.85;

export interface Conversation {
  held: MediaHeld;
  /** Tokens of the prompt so far. */
  gauge: number;
  context_tokens: number | null;
}

/** What is held after this content. */
export function holdMedia(held: MediaHeld, content: readonly ResultContent[]): MediaHeld {
  return content.filter(isMedia).reduce(hold, held);
}

/** The content with words where an image or a document would be one too many; `refused`: only words are left of it. */
export function admitMedia(
  content: readonly ResultContent[],
  { held, gauge, context_tokens }: Conversation,
): { content: ResultContent[]; refused: boolean } {
  const room = context_tokens === null ? Infinity : context_tokens * FULL_SHARE - gauge;
  let now = held;
  let used = 0;
  const admitted = content.map((block): ResultContent => {
    if (!isMedia(block)) return block;
    const issue = issueOf(block, now, { context_tokens, left: room - used });
    if (issue !== undefined) return refusal(block, issue);
    now = hold(now, block);
    used += mediaTokens(block);
    return block;
  });
  return { content: admitted, refused: now === held && content.length > 0 && content.every(isMedia) };
}

function hold({ images, large, bytes }: MediaHeld, block: MediaBlock): MediaHeld {
  return {
    images: images + countOf(block),
    large: large + (isLarge(block) ? 1 : 0),
    bytes: bytes + block.source.data.length,
  };
}

function issueOf(
  block: MediaBlock,
  held: MediaHeld,
  { context_tokens, left }: { context_tokens: number | null; left: number },
): string | undefined {
  const { images, large, bytes } = hold(held, block);
  const most = (context_tokens ?? 0) > SMALL_WINDOW ? MOST_IMAGES : FEWER_IMAGES;
  if (images > most) return `a conversation holds at most ${most} images and pages, and has ${held.images}`;
  if (bytes > MOST_BYTES) return `a conversation holds at most ${MOST_BYTES} bytes of images and documents as base64`;
  if (images > MANY_IMAGES && large > 0) {
    const which = isLarge(block) ? 'this one is larger' : 'an earlier one is larger';
    return `of more than ${MANY_IMAGES} images and pages none may have a side of more than ${LARGE_PIXELS} pixels, and ${which}`;
  }
  if (mediaTokens(block) > left) return `it counts about ${mediaTokens(block)} tokens, more than the window has left`;
  return undefined;
}

function countOf(block: MediaBlock): number {
  return block.type === 'document' ? (block.pages ?? 1) : 1;
}

function isLarge(block: MediaBlock): boolean {
  return block.type === 'image' && Math.max(block.width ?? 0, block.height ?? 0) > LARGE_PIXELS;
}

function refusal(block: MediaBlock, issue: string): ResultText {
  const what = block.type === 'image' ? 'image' : 'PDF';
  return { type: 'text', text: `[the ${what} is not shown: ${issue}]` };
}
