// An MCP server of ours at a URL, in plain JSON-RPC over streamable HTTP, that can misbehave. What a tool is called says
// what it does.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { png } from './media.ts';

type Json = Record<string, unknown>;
type Act = (reply: Reply) => void;

interface Reply {
  request: IncomingMessage;
  response: ServerResponse;
  id: unknown;
  input: Json;
  /** Answers in the server's form. */
  answer: (result: Json) => void;
  /** Sends something on the stream that the client keeps open. */
  tell: (message: Json) => void;
  /** Knows none of its sessions any more. */
  forget: () => void;
}

export interface McpHttpServer {
  url: string;
  requests: { method: string; rpc: unknown; headers: IncomingHttpHeaders }[];
  close: () => void;
}

export interface McpHttpOptions {
  /** Answers as one event of a stream, in place of JSON. */
  sse?: boolean;
  /** Where every request is sent on to. */
  redirect?: string;
  status?: number;
  /** A method that is never answered. */
  silent?: string;
}

const text = (value: string): Json => ({ content: [{ type: 'text', text: value }] });
const event = (message: unknown): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

function stream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

const TOOLS: Record<string, Act> = {
  echo: ({ answer, input }) => answer(text(`said: ${String(input['text'])}`)),
  hang: ({ response }) => stream(response),
  drop: ({ request }) => request.socket.destroy(),
  leave: ({ response }) => {
    stream(response);
    response.end();
  },
  garbage: ({ response }) => {
    stream(response);
    response.end('event: message\ndata: {"jsonrpc":"2.0","id":}\n\n');
  },
  page: ({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello'),
  refuse: ({ response }) => response.writeHead(500).end('no s3cret-value here'),
  long: ({ answer }) => answer(text('x'.repeat(9_000_000))),
  flood: ({ response }) => {
    stream(response);
    const note = event({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'f'.repeat(500_000) } });
    const more = (): void => {
      while (!response.destroyed && response.write(note));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  },
  spam: ({ answer, tell }) => {
    answer(text('enjoy'));
    for (let sent = 0; sent < 70; sent += 1)
      tell({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'f'.repeat(1_000_000) } });
  },
  change: ({ answer, tell }) => {
    tell({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    answer(text('changed'));
  },
  sample: ({ answer, tell }) => {
    tell({ jsonrpc: '2.0', id: 'ask', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
    answer(text('asked'));
  },
  forget: ({ answer, forget }) => {
    answer(text('who are you?'));
    forget();
  },
  picture: ({ answer }) => {
    const image = { type: 'image', data: png(3, 2).toString('base64'), mimeType: 'image/gif' };
    const link = { type: 'resource_link', uri: 'doc://b', name: 'b', mimeType: 'text/plain' };
    answer({ content: [{ type: 'text', text: 'look' }, image, link] });
  },
};

/** Starts it on a port of its own; it ends with the test. */
export async function startMcpHttp(options: McpHttpOptions = {}): Promise<McpHttpServer> {
  const requests: McpHttpServer['requests'] = [];
  const open = new Set<ServerResponse>();
  const session = { number: 1 };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
    request.on('end', () => {
      const message = body === '' ? {} : (JSON.parse(body) as Json);
      requests.push({ method: request.method ?? '', rpc: message['method'], headers: request.headers });
      if (options.redirect) return response.writeHead(307, { location: options.redirect }).end();
      if (options.status) return response.writeHead(options.status).end('not for you');
      const claimed = request.headers['mcp-session-id'];
      if (claimed !== undefined && claimed !== `session-${session.number}`) return response.writeHead(404).end();
      if (request.method === 'GET') {
        open.add(response);
        return stream(response);
      }
      return respond({ request, response, message, options, open, session });
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, requests, close };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  message: Json;
  options: McpHttpOptions;
  open: Set<ServerResponse>;
  session: { number: number };
}

function respond({ request, response, message, options, open, session }: Exchange): unknown {
  const { id, method } = message;
  const params = (message['params'] ?? {}) as Json;
  const answer = (result: Json): void => {
    const reply = { jsonrpc: '2.0', id, result };
    response.setHeader('mcp-session-id', `session-${session.number}`);
    if (options.sse) response.writeHead(200, { 'content-type': 'text/event-stream' }).end(event(reply));
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  };
  if (request.method === 'DELETE') return response.writeHead(200).end();
  if (id === undefined || method === undefined) return response.writeHead(202).end();
  if (method === options.silent) return undefined;
  if (method === 'initialize') {
    const { protocolVersion } = params;
    return answer({
      protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 's', version: '1' },
    });
  }
  if (method === 'tools/list') {
    return answer({ tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } })) });
  }
  const tell = (sent: Json): void => open.forEach((one) => void one.write(event(sent)));
  const act = TOOLS[String(params['name'])];
  const forget = (): void => void (session.number += 1);
  return act?.({ forget, request, response, id, input: (params['arguments'] ?? {}) as Json, answer, tell });
}
