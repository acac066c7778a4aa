import type { Redact } from '../core/ports.ts';
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

export interface ByteStream {
  push(chunk: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

export interface Redactor {
  /** Doing it twice changes nothing, and JSON text stays JSON text. */
  redact: Redact;
  /** For text that comes in chunks: a secret split between them never appears. */
  stream(): TextStream;
  /** The same for bytes; those that are no secret stay as they are, whatever their encoding. */
  bytes(): ByteStream;
}

/** Masks the secret values of these sources, in every usual encoding, and what looks like a token. */
export function createRedactor(sources: SecretSources): Redactor {
  const finder = createFinder(secretValues(sources));
  const redact: Redact = (text) => replaceFinds(text, 0, text.length, finder.find(text, 0, text.length).found);
  return { redact, stream: () => new HeldText(finder), bytes: () => byteStream(new HeldText(finder)) };
}

// Latin-1 gives every byte a character of its own, and takes it back unchanged.
function byteStream(stream: TextStream): ByteStream {
  return {
    push: (chunk) => Buffer.from(stream.push(Buffer.from(chunk).toString('latin1')), 'latin1'),
    end: () => Buffer.from(stream.end(), 'latin1'),
  };
}
