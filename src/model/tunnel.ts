// TLS through a proxy. Loaded only when there is one: Node's TLS takes its time to start.

import { request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { AgentOptions, RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { proxyHeaders } from './proxy.ts';
import { TransportError } from './transport-error.ts';

/** Options of a request that goes through a tunnel: the signal also ends a tunnel that is still being opened. */
export interface TunnelOptions extends RequestOptions {
  tunnel_signal?: AbortSignal | undefined;
}

/** Keeps TLS connections to the service that run through an HTTP proxy. */
export class TunnelAgent extends HttpsAgent {
  readonly #proxy: URL;

  constructor(proxy: URL, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: TunnelOptions, callback?: Connected): undefined {
    const host = options.host ?? 'localhost';
    const servername = isIP(host) ? undefined : host;
    openTunnel(this.#proxy, host, options, (result) => {
      // Node's type asks for a stream beside the error; its agent looks at the error only.
      if (result instanceof TransportError) (callback as ((error: Error) => void) | undefined)?.(result);
      else callback?.(null, tlsConnect({ socket: result, host, ...(servername ? { servername } : {}) }));
    });
    return undefined;
  }
}

type Connected = (error: Error | null, stream: Duplex) => void;
type Opened = (result: Duplex | TransportError) => void;

function openTunnel(proxy: URL, host: string, options: TunnelOptions, done: Opened): void {
  const target = `${host.includes(':') ? `[${host}]` : host}:${options.port ?? 443}`;
  const send = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = send(proxy, {
    method: 'CONNECT',
    path: target,
    headers: { host: target, ...proxyHeaders(proxy) },
    agent: false,
    ...(options.tunnel_signal ? { signal: options.tunnel_signal } : {}),
  });
  request.once('connect', (response, socket) => {
    const status = response.statusCode ?? 0;
    if (status === 200) return done(socket);
    socket.destroy();
    // 407 and 403 are the proxy's policy; 502 and the like may pass.
    const final = status >= 400 && status < 500;
    return done(
      new TransportError(`the proxy ${proxy.host} refused a tunnel to ${target} with status ${status}`, { final }),
    );
  });
  request.once('error', (cause) => done(new TransportError(`the proxy ${proxy.host} cannot be used`, { cause })));
  request.end();
}
