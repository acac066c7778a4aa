// `fetch` for the SDK over node:http: faster to start than Node's own, and it knows proxies.

import * as http from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connectionError, HeaderList, HttpResponse } from './http-response.ts';
import { proxyFor, proxyHeaders } from './proxy.ts';
import type { Env } from './proxy.ts';
import { TransportError } from './transport-error.ts';
import type { TunnelOptions } from './tunnel.ts';

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Where a request is really sent. */
interface Route {
  to: URL;
  /** Absent: the URL's own path. */
  path?: string;
  headers: Record<string, string>;
  agent: http.Agent;
  request: typeof http.request;
}

const SOCKETS = 4;

/** A fetch to one service; connections are kept, redirects are not followed, so a key goes nowhere else. */
export function createHttpFetch(base: URL, env: Env, maxSockets = SOCKETS): Fetch {
  const proxy = proxyFor(base, env);
  const options = { keepAlive: true, maxSockets };
  let router: ReturnType<typeof createRouter> | undefined;
  return async (input, init = {}) => {
    const url = new URL(typeof input === 'string' || input instanceof URL ? input : input.url);
    router ??= createRouter(base, proxy, options);
    return exchange((await router)(url), url, init);
  };
}

/** How a URL of the service is reached; TLS and tunnels are loaded by those who need them. */
async function createRouter(
  base: URL,
  proxy: URL | undefined,
  options: http.AgentOptions,
): Promise<(url: URL) => Route> {
  if (proxy && base.protocol === 'https:') {
    const { TunnelAgent } = await import('./tunnel.ts');
    const { request } = await import('node:https');
    const agent = new TunnelAgent(proxy, options);
    return (url) => ({ to: url, headers: {}, agent, request });
  }
  const { Agent, request } = await protocolOf(proxy ?? base);
  const agent = new Agent(options);
  if (!proxy) return (url) => ({ to: url, headers: {}, agent, request });
  const headers = proxyHeaders(proxy);
  return (url) => ({ to: proxy, path: url.href, headers: { host: url.host, ...headers }, agent, request });
}

async function protocolOf({ protocol }: URL): Promise<Pick<typeof http, 'Agent' | 'request'>> {
  return protocol === 'https:' ? import('node:https') : http;
}

async function exchange(route: Route, url: URL, init: RequestInit): Promise<Response> {
  const signal = init.signal ?? undefined;
  const headers: Record<string, string> = {
    ...Object.fromEntries(new HeaderList(init.headers ?? [])),
    ...route.headers,
  };
  checkHeaders(headers);
  const options: TunnelOptions = {
    method: init.method ?? 'GET',
    headers,
    agent: route.agent,
    ...(route.path === undefined ? {} : { path: route.path }),
    ...(signal ? { tunnel_signal: signal } : {}),
  };
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = route.request(route.to, options);
    let answer: IncomingMessage | undefined;
    request.once('response', (response) => resolve((answer = response)));
    // Stays after the head: a socket that breaks later also tells the request, which nobody else hears.
    request.on('error', (cause) => reject(connectionError(url.host, cause)));
    // Not as the request's own `signal`: that destroys a connection which already waits for the next request.
    const abort = (): void => {
      reject(connectionError(url.host, signal?.reason));
      if (!answer?.complete) request.destroy(new Error('aborted', { cause: signal?.reason }));
    };
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort, { once: true });
    request.once('close', () => signal?.removeEventListener('abort', abort));
    return void request.end(bodyOf(init));
  });
  return toResponse(incoming, url);
}

/** Throws a final error, without the value, for a header that Node would not send: it is as wrong the next time. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      http.validateHeaderName(name);
      http.validateHeaderValue(name, value);
    } catch {
      // A TypeError that says no more than this.
      const message = `the header ${JSON.stringify(name.slice(0, 80))} holds a line break or another character that no header has, so nothing was sent; paste its value again`;
      throw new TransportError(message, { final: true });
    }
  }
}

function bodyOf({ body }: RequestInit): string | Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  throw new TypeError('a request body must be text or bytes');
}

function toResponse(incoming: IncomingMessage, url: URL): Response {
  const status = incoming.statusCode ?? 0;
  if (status >= 200 && status <= 599) return new HttpResponse(incoming, url) as unknown as Response; // what its users use of it
  incoming.destroy();
  throw new TransportError(`${url.host} answered with the impossible status ${status}`, { cause: new Error('status') });
}
