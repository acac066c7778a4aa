import type { Redact, StreamFilter } from '../core/ports.ts';
import { HeldText } from './redact-stream.ts';
import { createFinder } from './secret-finder.ts';
import { replaceFinds } from './secret-marker.ts';
import { secretValues, type SecretSources } from './secret-values.ts';

export interface TextStream {
  /** Takes the next piece and gives back what is decided so far. */
  push(chunk: string): string;
  /** What was held back. */
  end(): string;
}

export interface Redactor {
  /** Doing it twice changes nothing, and JSON text stays JSON text. */
  redact: Redact;
  /** For bytes that come in chunks: a secret split between them never appears, and all other bytes stay as they are. */
  stream(): StreamFilter;
  /** The same for text. */
  textStream(): TextStream;
}

/** Masks the secret values of these sources, in every usual encoding, and what looks like a token. */
export function createRedactor(sources: SecretSources): Redactor {
  const finder = createFinder(secretValues(sources));
  const redact: Redact = (text) => replaceFinds(text, 0, text.length, finder.find(text, 0, text.length).found);
  return { redact, stream: () => byteStream(new HeldText(finder)), textStream: () => new HeldText(finder) };
}

// Latin-1 gives every byte a character of its own, and takes it back unchanged.
function byteStream(stream: TextStream): StreamFilter {
  return {
    push: (chunk) => Buffer.from(stream.push(viewOf(chunk).toString('latin1')), 'latin1'),
    end: () => Buffer.from(stream.end(), 'latin1'),
  };
}

/** The same bytes, not a copy: a command may say gigabytes. */
function viewOf(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
