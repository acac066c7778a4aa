import { lookup } from 'node:dns/promises';
import { createServer, request } from 'node:http';
import { connect, isIP } from 'node:net';
import { allowsHost, isInternal, normalName } from './hosts.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HostRule } from './hosts.ts';

export interface HostProxy {
  /** Path of the Unix socket it listens on. */
  socket: string;
  close(): void;
}

/** A proxy on a Unix socket that connects to listed hosts only; everything else is answered with 403. */
export async function startHostProxy(socket: string, rules: readonly HostRule[]): Promise<HostProxy> {
  const server = createServer((incoming, outgoing) => void forward(rules, incoming, outgoing));
  server.on('connect', (incoming: IncomingMessage, client: Duplex) => void tunnel(rules, incoming, client));
  server.on('clientError', (_error, client) => client.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, resolve);
  });
  server.unref();
  return {
    socket,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function tunnel(rules: readonly HostRule[], incoming: IncomingMessage, client: Duplex): Promise<void> {
  client.on('error', () => client.destroy());
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(incoming.url ?? '') ?? [];
  const address = await allowedAddress(rules, host, Number(port));
  if (address === undefined) {
    client.end(`HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n`);
    return;
  }
  const target: Socket = connect(Number(port), address, () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    client.pipe(target).pipe(client);
  });
  target.on('error', () => client.destroy());
  client.on('close', () => target.destroy());
}

async function forward(rules: readonly HostRule[], incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const url = URL.canParse(incoming.url ?? '') ? new URL(incoming.url ?? '') : undefined;
  const port = Number(url?.port || 80);
  const address =
    url?.protocol === 'http:' && url.username === '' ? await allowedAddress(rules, url.hostname, port) : undefined;
  if (!url || address === undefined) {
    outgoing.writeHead(403, { 'content-type': 'text/plain' }).end('agent-run: this host is not in sandbox.network\n');
    return;
  }
  const headers = { ...incoming.headers, host: url.host };
  const target = request({
    host: address,
    port,
    method: incoming.method,
    path: `${url.pathname}${url.search}`,
    headers,
  });
  target.on('response', (reply) => {
    outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(outgoing);
  });
  target.on('error', () => outgoing.destroy());
  incoming.pipe(target);
}

/** The address to connect to, looked up once so that a second answer cannot differ; undefined: not allowed. */
async function allowedAddress(rules: readonly HostRule[], host: string, port: number): Promise<string | undefined> {
  const name = normalName(host);
  if (name === undefined || !allowsHost(rules, name, port)) return undefined;
  if (isIP(name)) return name;
  try {
    const { address } = await lookup(name);
    // A public name that points inside is an attack; "localhost" says what it is.
    return isInternal(address) && name !== 'localhost' ? undefined : address;
  } catch {
    // ENOTFOUND, EAI_AGAIN: there is no such host.
    return undefined;
  }
}
