import { createServer } from 'node:http';
import { crc32 } from 'node:zlib';
import { onTestFinished } from 'vitest';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

export interface PlatformRequest {
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface PlatformServer {
  url: string;
  requests: PlatformRequest[];
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body: Uint8Array | string;
}

const METADATA = '/computeMetadata/v1/';
const TOKEN: Answer = {
  headers: { 'metadata-flavor': 'Google', 'content-type': 'application/json' },
  body: JSON.stringify({ access_token: 'ya29.from-the-metadata-server', expires_in: 3600, token_type: 'Bearer' }),
};

/** A stand-in for a cloud's endpoint on 127.0.0.1; it is the metadata server that hands out Google's tokens, too. */
export async function startPlatformServer(answer: (request: PlatformRequest) => Answer): Promise<PlatformServer> {
  const requests: PlatformRequest[] = [];
  const serve = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
    const request = { url: from.url ?? '', headers: from.headers, body: await bodyOf(from) };
    const isMetadata = request.url.startsWith(METADATA);
    if (!isMetadata) requests.push(request);
    const { status = 200, headers = {}, body } = isMetadata ? TOKEN : answer(request);
    to.writeHead(status, headers);
    to.end(body);
  };
  const server = createServer((from, to) => void serve(from, to).catch(() => to.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, requests };
}

/** Events of a reply that calls a tool, as the Messages API streams them. */
export const EVENTS: readonly object[] = [
  {
    type: 'message_start',
    message: {
      id: 'msg_bdrk_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [],
      usage: { input_tokens: 30, output_tokens: 1 },
    },
  },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: {} },
  },
  {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json: '{"path":"a","n":2512292042121000001}' },
  },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 12 } },
  { type: 'message_stop' },
];

/** As server-sent events, the form of Vertex. */
export function asSse(events: readonly object[]): Answer {
  const frames = events.map(
    (event) => `event: ${'type' in event ? String(event.type) : ''}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  return { headers: { 'content-type': 'text/event-stream' }, body: frames.join('') };
}

/** As frames of AWS's binary event stream, the form of Bedrock. */
export function asEventStream(events: readonly object[]): Answer {
  const frames = events.map((event) => {
    const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
    return frame(JSON.stringify({ bytes }));
  });
  const headers = { 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': 'aws-request-1' };
  return { headers, body: Buffer.concat(frames) };
}

function frame(payload: string): Buffer {
  const names = { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' };
  const headers = Buffer.concat(Object.entries(names).map(([name, value]) => header(name, value)));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(8 + 4 + headers.length + payload.length + 4, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const head = Buffer.concat([prelude, checksum(prelude), headers, Buffer.from(payload)]);
  return Buffer.concat([head, checksum(head)]);
}

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(value.length, 0);
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes), 0);
  return sum;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(Buffer.from(part)); // an IncomingMessage without encoding yields buffers
  return Buffer.concat(parts);
}
