import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';
import { bodyFault } from './rules.ts';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Json, Rules } from './rules.ts';

/** What the endpoint sends: chunks as events, or a body as it is. */
export interface ChatReply {
  status?: number;
  headers?: Record<string, string>;
  /** Chunks to stream; text goes out as the data it is. */
  chunks?: readonly (Json | string)[];
  /** Leave out the closing `[DONE]`. */
  no_done?: boolean;
  /** In place of chunks: JSON, or text. */
  body?: Json | string;
  /** After the last chunk: break the connection, or send nothing more. */
  finally?: 'reset' | 'stall';
}

export interface ChatRequest {
  headers: IncomingHttpHeaders;
  text: string;
  body: Json;
}

export interface ChatServer {
  /** With the version's path, as a task writes it. */
  url: string;
  requests: ChatRequest[];
  /** Requests that were refused for what they are. */
  refused: string[];
  push(...replies: ChatReply[]): void;
}

const FOREIGN_HEADER = /^(?:x-stainless|openai-|x-custom)/;

/** Starts an endpoint for chat completions on 127.0.0.1 that answers in order and refuses what breaks the rules. */
export async function startChatServer(rules: Rules = {}, replies: readonly ChatReply[] = []): Promise<ChatServer> {
  const queue = [...replies];
  const requests: ChatRequest[] = [];
  const refused: string[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(request);
    const body = JSON.parse(text) as Json;
    requests.push({ headers: request.headers, text, body });
    const fault = requestFault(request, rules) ?? bodyFault(body, rules);
    if (fault !== undefined) refused.push(fault);
    answer(response, fault === undefined ? (queue.shift() ?? says('nothing is left to say')) : refusal(fault));
  };
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/v1`, requests, refused, push: (...more) => void queue.push(...more) };
}

/** One chunk of a stream with this delta. */
export function chunk(delta: Json, finish_reason: string | null = null, rest: Json = {}): Json {
  const choices = [{ index: 0, delta, finish_reason }];
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'test-chat', choices, ...rest };
}

export const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

/** The chunk after the last one, with the usage. */
export function usageChunk(usage: Json = USAGE): Json {
  return { ...chunk({}), choices: [], usage };
}

/** A reply in words, in two deltas. */
export function says(text: string, finish = 'stop'): ChatReply {
  const half = Math.ceil(text.length / 2);
  const deltas = [{ role: 'assistant', content: '' }, { content: text.slice(0, half) }, { content: text.slice(half) }];
  return { chunks: [...deltas.map((delta) => chunk(delta)), chunk({}, finish), usageChunk()] };
}

export interface Called {
  id?: string;
  name: string;
  args: string;
}

/** A reply that calls tools in parallel, the arguments in pieces and the pieces of all calls in turn. */
export function calls(called: readonly Called[], finish = 'tool_calls'): ChatReply {
  const heads = called.map(({ id, name }, index) => {
    const head = { index, id: id ?? `call_x${index}`, type: 'function', function: { name, arguments: '' } };
    return chunk({ tool_calls: [head] });
  });
  const pieces = [0, 1].flatMap((part) =>
    called.map(({ args }, index) => {
      const middle = Math.ceil(args.length / 2);
      const text = part === 0 ? args.slice(0, middle) : args.slice(middle);
      return chunk({ tool_calls: [{ index, function: { arguments: text } }] });
    }),
  );
  return { chunks: [...heads, ...pieces, chunk({}, finish), usageChunk()] };
}

/** An answer with an error status in the usual form. */
export function refusal(message: string, status = 400, error: Json = {}): ChatReply {
  return { status, body: { error: { message, type: 'invalid_request_error', code: null, ...error } } };
}

function requestFault({ method, url, headers }: IncomingMessage, { key }: Rules): string | undefined {
  if (method !== 'POST' || url !== '/v1/chat/completions') return `unknown url ${method} ${url}`;
  if (headers['content-type'] !== 'application/json') return 'no JSON';
  if (headers.authorization !== (key === undefined ? undefined : `Bearer ${key}`)) return 'Incorrect API key provided';
  const foreign = Object.keys(headers).find((name) => FOREIGN_HEADER.test(name));
  return foreign === undefined ? undefined : `unexpected header ${foreign}`;
}

function answer(response: ServerResponse, reply: ChatReply): void {
  const { status = 200, body, chunks = [] } = reply;
  const type = body === undefined ? 'text/event-stream' : typeof body === 'string' ? 'text/html' : 'application/json';
  response.writeHead(status, { 'content-type': type, 'x-request-id': 'req_chat', ...reply.headers });
  if (body !== undefined) {
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
    return;
  }
  const data = chunks.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
  const frames = [...data, ...(reply.no_done || reply.finally ? [] : ['[DONE]'])].map((item) => `data: ${item}\n\n`);
  if (reply.finally === undefined) response.end(frames.join(''));
  else if (reply.finally === 'stall') response.write(frames.join(''));
  else response.write(frames.join(''), () => setImmediate(() => response.socket?.resetAndDestroy()));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(Buffer.from(part)); // an IncomingMessage without encoding yields buffers
  return Buffer.concat(parts).toString('utf8');
}
