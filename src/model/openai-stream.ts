import { isJsonObject, parseJson } from '../core/json.ts';
import { readFrames } from './frames.ts';
import { chatFault, isFault } from './openai-fault.ts';
import type { ChatFault } from './openai-fault.ts';
import type { ChatReader } from './openai-reader.ts';
import { readPage } from './read-reply.ts';

const MAX_ANSWER_CHARS = 32 * 1024 * 1024;

/** Reads a response into the reader; returns why it is no reply, if so. Throws what the connection throws. */
export async function readChat(
  response: Response,
  reader: ChatReader,
  onBytes: () => void,
): Promise<ChatFault | undefined> {
  const { body, headers } = response;
  const type = headers.get('content-type') ?? 'text/event-stream';
  if (!body) return { type: 'truncated_stream', message: 'the answer has no body' };
  if (type.includes('text/event-stream')) return readChunks(body, reader, onBytes);
  const page = await readPage(body, onBytes, MAX_ANSWER_CHARS);
  // A stream under another content type.
  if (/^\s*(?:data:|event:|:)/.test(page)) return readChunks([Buffer.from(`${page}\n\n`)], reader, () => {});
  return readWhole(page, type, reader);
}

type Body = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

async function readChunks(body: Body, reader: ChatReader, onBytes: () => void): Promise<ChatFault | undefined> {
  try {
    for await (const data of readFrames(asyncOf(body), onBytes)) {
      const fault = reader.accept(data);
      if (fault) return fault;
      if (reader.ended) break;
    }
  } catch (error) {
    // The reply was whole before the connection broke or fell silent; only its usage may be missing.
    if (!reader.finished) throw error;
  }
  return unfinished(reader);
}

async function* asyncOf(body: Body): AsyncGenerator<Uint8Array> {
  yield* body;
}

/** The answer of an endpoint that took no notice of `stream`. */
function readWhole(page: string, type: string, reader: ChatReader): ChatFault | undefined {
  const parsed = parseJson(page);
  const answer = parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
  if (answer && isFault(answer)) return chatFault(answer);
  if (!answer || !Array.isArray(answer['choices']))
    return { type: 'malformed_stream', message: `${type} instead of a stream: ${page}` };
  return reader.accept(page) ?? unfinished(reader);
}

function unfinished(reader: ChatReader): ChatFault | undefined {
  if (reader.finished) return undefined;
  return { type: 'truncated_stream', message: 'the reply ended without a finish_reason' };
}
