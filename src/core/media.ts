// Images and PDFs in a conversation: what they count, where their bytes say nothing about it.

import type { ModelConfig } from './config.ts';
import type { MediaBlock, Message, ResultContent, UserBlock } from './messages.ts';

/** Services shrink what is larger, so no image counts more. */
const MOST_IMAGE_TOKENS = 4800;
const PIXELS_PER_TOKEN = 750;
/** A page counts as its text and as an image. */
const PAGE_TOKENS = 3000;

/** What a model can be shown beside text: chat completions carry no PDFs. */
export function shownTo({ provider, images = true }: ModelConfig): { images: boolean; pdfs: boolean } {
  return { images, pdfs: images && provider !== 'openai' };
}

export function isMedia(block: UserBlock): block is MediaBlock {
  return block.type === 'image' || block.type === 'document';
}

/** About what an image or a document counts in a prompt; unknown sizes count as the largest. */
export function mediaTokens(block: MediaBlock): number {
  if (block.type === 'document') return PAGE_TOKENS * (block.pages ?? 1);
  const { width, height } = block;
  if (width === undefined || height === undefined) return MOST_IMAGE_TOKENS;
  return Math.min(MOST_IMAGE_TOKENS, Math.ceil((width * height) / PIXELS_PER_TOKEN));
}

/** All images and documents of a message, those in answers to calls included. */
export function mediaOf({ role, content }: Message): MediaBlock[] {
  return role === 'user' ? content.flatMap(mediaIn) : [];
}

function mediaIn(block: UserBlock): MediaBlock[] {
  const parts: readonly ResultContent[] = block.type === 'tool_result' ? block.content : [block];
  return parts.filter(isMedia);
}

/** The size in bytes of a request whose images and documents count as text of as many tokens. */
export function countedBytes(bytes: number, messages: readonly Message[], bytes_per_token: number): number {
  const media = messages.flatMap(mediaOf);
  const coded = media.reduce((sum, { source }) => sum + source.data.length, 0);
  const tokens = media.reduce((sum, block) => sum + mediaTokens(block), 0);
  return Math.max(0, bytes - coded) + tokens * bytes_per_token;
}

/** Tokens of something that no request has carried yet: its bytes over four, until the service counts it. */
export function roughTokens(value: unknown): number {
  let media = 0;
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (!isMediaLike(part)) return part;
    media += mediaTokens(part);
    return part.type;
  });
  return Math.ceil(Buffer.byteLength(text) / 4) + media;
}

function isMediaLike(part: unknown): part is MediaBlock {
  if (typeof part !== 'object' || part === null || !('type' in part) || !('source' in part)) return false;
  const { type, source } = part;
  if (type !== 'image' && type !== 'document') return false;
  return typeof source === 'object' && source !== null && 'data' in source && typeof source.data === 'string';
}
