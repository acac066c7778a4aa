// What a fetch gives back, over Node's own message. The global `Headers` and `Response` are not touched, because the
// first use of one loads Node's whole fetch, which takes longer than our start may.

import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { TransportError } from './transport-error.ts';

/** How long an unread rest may take before its connection is given up. */
const DRAIN_MS = 500;
const BODILESS = new Set([204, 205, 304]);

/** Names and values of headers, in lower case and sorted like the standard's; several values of a name are joined. */
export class HeaderList {
  readonly #values = new Map<string, string>();

  /** True of the standard's class as well, so that code bundled with this one takes both. */
  static [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return false;
    return #values in value || Object.prototype.toString.call(value) === '[object Headers]';
  }

  constructor(init: HeaderSource = []) {
    for (const [name, value] of pairsOf(init)) this.append(name, value);
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value.trim());
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  entries(): IterableIterator<[string, string]> {
    return [...this.#values].sort(([a], [b]) => (a < b ? -1 : 1)).values();
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }

  forEach(visit: (value: string, name: string) => void): void {
    for (const [name, value] of this.entries()) visit(value, name);
  }
}

/** Everything that headers are given as. */
export type HeaderSource = Iterable<readonly string[]> | Readonly<Record<string, unknown>>;

function pairsOf(init: HeaderSource): [string, string][] {
  const pairs: (readonly unknown[])[] = Symbol.iterator in init ? [...init] : Object.entries(init);
  return pairs.map(([name, value]) => [String(name), String(value)]);
}

/** The bytes of a message, read once; a sender is held back while nobody reads. */
export class HttpBody implements AsyncIterable<Uint8Array> {
  readonly #incoming: IncomingMessage;
  readonly #host: string;

  constructor(incoming: IncomingMessage, host: string) {
    this.#incoming = incoming;
    this.#host = host;
    // A connection that breaks while nobody reads is told to whoever does next.
    incoming.on('error', () => {});
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, undefined> {
    try {
      yield* this.#incoming.iterator({ destroyOnReturn: false });
    } catch (cause) {
      // The connection broke, or the request was aborted.
      throw connectionError(this.#host, cause);
    } finally {
      await this.cancel();
    }
  }

  /** As the standard's streams are read by hand. */
  getReader(): { read(): Promise<IteratorResult<Uint8Array>>; cancel(): Promise<void>; releaseLock(): void } {
    const bytes = this[Symbol.asyncIterator]();
    return { read: async () => bytes.next(), cancel: async () => this.cancel(), releaseLock: () => {} };
  }

  // What comes after the last event is read away so that the next request can use the connection.
  async cancel(): Promise<void> {
    const incoming = this.#incoming;
    if (incoming.destroyed || incoming.readableEnded) return;
    const timer = setTimeout(() => incoming.destroy(), DRAIN_MS);
    timer.unref();
    incoming.once('close', () => clearTimeout(timer));
    incoming.resume();
  }
}

/** The part of the standard's Response that SDKs and we use. */
export class HttpResponse {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly url: string;
  readonly headers: HeaderList;
  readonly body: HttpBody | null;

  constructor(incoming: IncomingMessage, url: URL) {
    this.status = incoming.statusCode ?? 0;
    this.statusText = incoming.statusMessage ?? '';
    this.ok = this.status >= 200 && this.status < 300;
    this.url = url.href;
    this.headers = new HeaderList();
    const { rawHeaders } = incoming;
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      this.headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
    }
    const bodiless = BODILESS.has(this.status);
    if (bodiless) incoming.resume();
    this.body = bodiless ? null : new HttpBody(incoming, url.host);
  }

  async text(): Promise<string> {
    const decoder = new StringDecoder('utf8');
    let text = '';
    for await (const chunk of this.body ?? []) text += decoder.write(Buffer.from(chunk));
    return text + decoder.end();
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
}

/** What broke a connection, as an error that names where to. */
export function connectionError(host: string, cause: unknown): TransportError {
  return cause instanceof TransportError ? cause : new TransportError(`no answer from ${host}`, { cause });
}
