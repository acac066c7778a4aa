// The line-by-line side of a server: JSON-RPC messages between its pipes and the client, with bounds on what it sends.

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Service } from '../core/ports.ts';

/** A longer message is not kept; whoever waits for it is told. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** What a server may send between two requests of ours. */
export const MAX_UNASKED_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;
/** An id stands at the beginning of a message, or at its end. */
const EDGE_BYTES = 200;

export interface Wire extends Transport {
  /** Takes in what the server writes. */
  heard: (chunk: Uint8Array) => void;
  /** The server is gone. */
  gone: () => void;
}

export interface WireOptions {
  service: Pick<Service, 'write' | 'kill'>;
  /** Throws for a line that is no message. */
  parse: (line: string) => JSONRPCMessage;
  /** A line on its output that is no message. */
  onNoise: (line: string) => void;
  /** It sent too much, and was ended for it. */
  onFlood: () => void;
}

/** The transport between a running server and the client. */
export function createWire({ service, parse, onNoise, onFlood }: WireOptions): Wire {
  let unasked = 0;
  let over = false;
  const answers = createAnswers((message) => wire.onmessage?.(message));
  const lines = createLines({
    onLine(line) {
      try {
        answers.take(parse(line));
      } catch {
        // Not JSON, or not JSON-RPC: many a server logs to its output.
        if (line.trimStart().startsWith('{')) answers.refuse(edgesOf(line), 'it sent a message that cannot be read');
        onNoise(line);
      }
    },
    onTooLong: (edges, bytes) =>
      answers.refuse(edges, `its answer has ${bytes} bytes; the limit is ${MAX_MESSAGE_BYTES}; ask for less`),
  });
  const wire: Wire = {
    start: async () => {},
    async send(message) {
      answers.expect(message);
      unasked = 0;
      service.write(`${JSON.stringify(message)}\n`);
    },
    close: async () => {},
    heard(chunk) {
      if (over) return;
      unasked += chunk.length;
      lines(chunk);
      if (unasked <= MAX_UNASKED_BYTES) return;
      over = true;
      onFlood();
      service.kill();
    },
    gone() {
      over = true;
      wire.onclose?.();
    },
  };
  return wire;
}

/** An answer that cannot be taken is still an answer: nobody waits for it in vain. */
function createAnswers(deliver: (message: JSONRPCMessage) => void) {
  const waiting = new Set<number | string>();
  const take = (message: JSONRPCMessage): void => {
    if (!('method' in message) && message.id !== undefined) waiting.delete(message.id);
    deliver(message);
  };
  return {
    take,
    expect(message: JSONRPCMessage): void {
      if ('method' in message && 'id' in message) waiting.add(message.id);
    },
    /** Tells whoever waits for a message, by what can be seen of it; all of them when it does not say. */
    refuse(edges: string, message: string): void {
      const ids = [...edges.matchAll(/"id"\s*:\s*(\d+)/g)].map(([, id]) => Number(id)).filter((id) => waiting.has(id));
      for (const id of ids.length > 0 ? ids : [...waiting])
        take({ jsonrpc: '2.0', id, error: { code: -32_000, message } });
    },
  };
}

function edgesOf(line: string): string {
  return `${line.slice(0, EDGE_BYTES)} ${line.slice(-EDGE_BYTES)}`;
}

interface LineReader {
  onLine: (line: string) => void;
  onTooLong: (edges: string, bytes: number) => void;
}

/** Splits chunks into lines; of a line that is too long only the edges are held. */
function createLines({ onLine, onTooLong }: LineReader): (chunk: Uint8Array) => void {
  let parts: Uint8Array[] = [];
  let size = 0;
  let head: Buffer | undefined;
  const add = (part: Uint8Array): void => {
    if (part.length === 0) return;
    size += part.length;
    parts.push(part);
    if (size <= MAX_MESSAGE_BYTES) return;
    head ??= Buffer.concat(parts).subarray(0, EDGE_BYTES);
    parts = [Buffer.from(Buffer.concat(parts.slice(-2)).subarray(-EDGE_BYTES))];
  };
  const end = (): void => {
    const rest = Buffer.concat(parts);
    const [bytes, first] = [size, head];
    [parts, size, head] = [[], 0, undefined];
    if (first !== undefined) onTooLong(`${first.toString('latin1')} ${rest.toString('latin1')}`, bytes);
    else if (bytes > 0) onLine(rest.toString('utf8'));
  };
  return (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, at));
      end();
      from = at + 1;
    }
    add(chunk.subarray(from));
  };
}
