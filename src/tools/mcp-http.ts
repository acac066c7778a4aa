// A server at an address: streamable HTTP, with bounds on what it sends and an answer for every request.

import { setMaxListeners } from 'node:events';
import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { errorText } from '../core/errors.ts';
import { isJsonObject, type JsonValue } from '../core/json.ts';
import type { Link } from './mcp-link.ts';
import { MAX_MESSAGE_BYTES, MAX_UNASKED_BYTES } from './mcp-wire.ts';

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

export interface HttpParts {
  url: URL;
  /** Sent with every request to the server's own origin, and nowhere else. */
  headers: Readonly<Record<string, string>>;
  /** Follows no redirects. */
  fetch: Fetch;
}

/** Time to say goodbye in. */
const GOODBYE_MS = 1000;
const FLOOD = 'it was cut off: it sent more than it was asked for';

/** The way to a server at a URL; nothing is sent before the client connects. */
export function openHttp(parts: HttpParts, Transport: typeof StreamableHTTPClientTransport): Link {
  const state = createState();
  const transport = new Transport(parts.url, {
    requestInit: { headers: { ...parts.headers } },
    fetch: boundedFetch(parts.fetch, state),
    redirectPolicy: 'same-origin',
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 2,
    },
  });
  answerEveryRequest(transport, state);
  const close = (): void => void transport.close().catch(() => {}); // nothing is left to do about it
  state.onFlood = close;
  return {
    transport,
    gone: state.gone,
    trouble: state.trouble,
    ended: () => state.ended,
    last: () => '',
    async end() {
      const goodbye = transport.terminateSession().catch(() => {}); // a server may refuse it, or be gone
      await Promise.race([goodbye, waited(GOODBYE_MS)]);
      close();
    },
    kill: close,
  };
}

interface State {
  /** Bytes that came since the last request. */
  unasked: number;
  ended?: string;
  gone: Promise<string>;
  /** The first time that nobody was there. */
  trouble: Promise<string>;
  troubled: (how: string) => void;
  flood: () => void;
  onFlood: () => void;
  /** Ends what still streams for a request, by its id. */
  streams: Map<JsonValue, AbortController>;
  refuse: (id: JsonValue, message: string) => void;
}

function createState(): State {
  const [gone, tell] = settled();
  const [trouble, troubled] = settled();
  const state: State = {
    unasked: 0,
    gone,
    trouble,
    troubled,
    streams: new Map(),
    onFlood: () => {},
    refuse: () => {},
    flood() {
      if (state.ended !== undefined) return;
      state.ended = FLOOD;
      tell(FLOOD);
      state.onFlood();
    },
  };
  return state;
}

function settled(): [Promise<string>, (how: string) => void] {
  let settle = (_how: string): void => {};
  const promise = new Promise<string>((resolve) => {
    settle = resolve;
  });
  return [promise, settle];
}

/** A stream that ends, or breaks, without the answer that it was opened for is an answer, too: nobody waits in vain. */
function answerEveryRequest(transport: StreamableHTTPClientTransport, state: State): void {
  state.refuse = (id, message) => {
    if (typeof id !== 'number' && typeof id !== 'string') return;
    state.streams.delete(id);
    transport.onmessage?.({ jsonrpc: '2.0', id, error: { code: -32_000, message } });
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    state.unasked = 0;
    if (state.ended !== undefined) throw new Error(state.ended);
    const cancelled = cancelledId(message);
    if (cancelled !== undefined) state.streams.get(cancelled)?.abort();
    const id = !Array.isArray(message) && 'method' in message && 'id' in message ? message.id : undefined;
    if (id === undefined) return send(message, options);
    const stream = new AbortController();
    state.streams.set(id, stream);
    const signals = [stream.signal, ...(options?.requestSignal ? [options.requestSignal] : [])];
    return send(message, {
      ...options,
      requestSignal: AbortSignal.any(signals),
      onRequestStreamEnd() {
        options?.onRequestStreamEnd?.();
        if (state.streams.has(id)) state.refuse(id, 'it closed the connection without an answer');
      },
    });
  };
}

/** The request that a message takes back. */
function cancelledId(message: JSONRPCMessage | JSONRPCMessage[]): JsonValue | undefined {
  if (Array.isArray(message) || !('method' in message) || message.method !== 'notifications/cancelled')
    return undefined;
  const { requestId } = message.params ?? {};
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined;
}

/** A fetch whose answers have an end: a larger one is refused, and a server that floods is cut off. */
function boundedFetch(fetch: Fetch, state: State): Fetch {
  return async (input, init) => {
    // The transport's own: Node warns of many listeners, and calls that read run at the same time.
    if (init?.signal) setMaxListeners(0, init.signal);
    const response = await fetch(input, init).catch((error: unknown) => {
      const reason = connectionReason(error);
      if (!init?.signal?.aborted) state.troubled(reason);
      throw new Error(reason, { cause: error });
    });
    if (!response.body) return response;
    const id = requestId(init?.body);
    const { status, statusText, headers } = response;
    const body = bounded(response.body, boundFor(id, state));
    return new Response(body, { status, statusText, headers: [...headers] });
  };
}

/** What is wrong with the next chunk of an answer, if anything. */
type Bound = (chunk: Uint8Array) => Error | undefined;

function boundFor(id: JsonValue | undefined, state: State): Bound {
  let size = 0;
  return (chunk) => {
    size += chunk.length;
    state.unasked += chunk.length;
    if (state.unasked > MAX_UNASKED_BYTES) {
      state.flood();
      return new Error(FLOOD);
    }
    if (id === undefined || size <= MAX_MESSAGE_BYTES) return undefined;
    const message = `its answer has more than ${MAX_MESSAGE_BYTES} bytes; ask for less`;
    const stream = state.streams.get(id);
    state.refuse(id, message);
    stream?.abort();
    return new Error(message);
  };
}

function bounded(body: AsyncIterable<Uint8Array>, issueOf: Bound): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done) return controller.close();
      const issue = issueOf(next.value);
      if (issue) throw issue;
      return controller.enqueue(next.value);
    },
    cancel: () => void chunks.return?.(),
  });
}

function requestId(body: unknown): JsonValue | undefined {
  if (typeof body !== 'string') return undefined;
  const message = JSON.parse(body) as JsonValue; // written by the client as JSON
  return isJsonObject(message) && message['method'] !== undefined ? message['id'] : undefined;
}

/** "no answer from 127.0.0.1:9 (ECONNREFUSED)" */
function connectionReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return code === '' ? errorText(error) : `${errorText(error)} (${code})`;
}

function waited(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
