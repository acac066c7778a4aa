import { isJsonObject, parseJson } from '../core/json.ts';
import { readFrames } from './frames.ts';
import { errorFault } from './reply-reader.ts';
import type { ReplyReader, StreamFault } from './reply-reader.ts';

const MAX_PAGE_CHARS = 64 * 1024;

/** Reads a response into the reader; returns why it is no reply, if so. Throws what the connection throws. */
export async function readReply(
  response: Response,
  reader: ReplyReader,
  onBytes: () => void,
): Promise<StreamFault | undefined> {
  const type = response.headers.get('content-type') ?? 'text/event-stream';
  if (!response.body) return { type: 'truncated_stream', message: 'the answer has no body' };
  if (!type.includes('text/event-stream')) return notStream(await readPage(response.body, onBytes), type);
  for await (const data of readFrames(response.body, onBytes)) {
    const fault = reader.accept(data);
    if (fault) return fault;
    if (reader.done) return undefined;
  }
  return { type: 'truncated_stream', message: 'the reply ended without message_stop' };
}

function notStream(page: string, type: string): StreamFault {
  const parsed = parseJson(page);
  if (parsed.ok && isJsonObject(parsed.value) && parsed.value['type'] === 'error') {
    return errorFault(parsed.value['error']);
  }
  return { type: 'malformed_stream', message: `${type} instead of a stream: ${page}` };
}

/** The text of a body that is no stream, up to a bit over `max_chars`. */
export async function readPage(
  body: AsyncIterable<Uint8Array>,
  onBytes: () => void,
  max_chars = MAX_PAGE_CHARS,
): Promise<string> {
  const decoder = new TextDecoder();
  let page = '';
  for await (const chunk of body) {
    onBytes();
    page += decoder.decode(chunk, { stream: true });
    if (page.length > max_chars) break;
  }
  return page;
}
