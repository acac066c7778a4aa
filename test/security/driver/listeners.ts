import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** A TCP and a UDP listener on the loopback address that record who comes. */
export interface Listeners {
  host: string;
  port: number;
  connections: string[];
  /** Datagrams as Latin-1 text; the name of a DNS query can be read in it, label by label. */
  datagrams: string[];
}

const HOST = '127.0.0.1';

/** Starts both; `closers` get what ends them. */
export async function startListeners(closers: (() => void)[]): Promise<Listeners> {
  const connections: string[] = [];
  const server = createServer((socket) => {
    connections.push(`${socket.remoteAddress}:${socket.remotePort}`);
    socket.on('error', () => {}); // the other side may leave as it likes
    socket.end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, HOST, resolve);
  });
  closers.push(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the listener has no port');
  return { host: HOST, port: address.port, connections, datagrams: await listenForDatagrams(address.port, closers) };
}

/** On the port of DNS where that is free, and on another one anyway. */
async function listenForDatagrams(port: number, closers: (() => void)[]): Promise<string[]> {
  const seen: string[] = [];
  for (const each of [53, port]) closers.push(await bindTo(each, seen));
  return seen;
}

async function bindTo(port: number, seen: string[]): Promise<() => void> {
  const socket = createSocket('udp4', (message) => seen.push(message.toString('latin1')));
  await new Promise<void>((resolve) => {
    socket.once('error', () => resolve()); // EACCES, EADDRINUSE: a name server has it, or it takes more rights
    socket.bind(port, HOST, resolve);
  });
  return () => {
    socket.removeAllListeners();
    socket.on('error', () => {});
    socket.close();
  };
}
