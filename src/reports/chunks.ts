import { deflateRawSync } from 'node:zlib';
import type { Body } from './page-data.ts';

const CHUNK_LENGTH = 512 * 1024;
/** What a page holds of bodies; a browser has to keep it all. */
const MAX_TOTAL = 256 * 1024 ** 2;

export interface Chunks {
  /** Keeps a text and says where it will stand; null when the page is full. */
  add(text: string): Body | null;
  /** Elements for the chunks that are full; with `all` for the last one too. */
  drain(all?: boolean): string[];
  /** How many texts the page had no room for. */
  left_out(): number;
}

/** Bodies in compressed chunks, each an element that no browser runs and whose letters cannot be markup. */
export function createChunks(): Chunks {
  let texts: string[] = [];
  let length = 0;
  let total = 0;
  let chunk = 0;
  let refused = 0;
  const ready: string[] = [];
  const close = (): void => {
    if (texts.length === 0) return;
    const packed = deflateRawSync(JSON.stringify(texts)).toString('base64');
    ready.push(`<script type="text/plain" id="chunk-${chunk}">${packed}</script>\n`);
    texts = [];
    length = 0;
    chunk += 1;
  };
  return {
    add(text) {
      if (total + text.length > MAX_TOTAL) {
        refused += 1;
        return null;
      }
      if (length > 0 && length + text.length > CHUNK_LENGTH) close();
      total += text.length;
      length += text.length;
      texts.push(text);
      return [chunk, texts.length - 1, text.length];
    },
    drain(all = false) {
      if (all) close();
      return ready.splice(0);
    },
    left_out: () => refused,
  };
}
