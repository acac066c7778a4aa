import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { createHttpFetch } from '../../src/model/http-fetch.ts';
import { TransportError } from '../../src/model/transport-error.ts';

const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<{ url: URL; connections: () => number }> {
  const server = createServer(listener);
  let connections = 0;
  server.on('connection', () => (connections += 1));
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { url: new URL(`http://127.0.0.1:${port}/base`), connections: () => connections };
}

describe('a fetch', () => {
  test('sends method, headers and the bytes of the body, and gives status, headers and body', async () => {
    const { url } = await serve((request, response) => {
      request.setEncoding('utf8');
      let body = '';
      request.on('data', (text: string) => (body += text));
      request.on('end', () => {
        response.writeHead(418, { 'x-two': ['a', 'b'] });
        response.end(
          `${request.method} ${request.url} ${String(request.headers['x-one'])} ${request.headers['content-length']} ${body}`,
        );
      });
    });
    const response = await createHttpFetch(url, {})(url, {
      method: 'POST',
      headers: { 'x-one': '1' },
      body: Buffer.from('ü'),
    });
    expect([response.ok, response.status, response.headers.get('x-two')]).toEqual([false, 418, 'a, b']);
    expect(await response.text()).toBe('POST /base 1 2 ü');
  });

  test('does not follow a redirect, so headers go to one host only', async () => {
    const { url, connections } = await serve((_request, response) => {
      response.writeHead(307, { location: '/elsewhere' });
      response.end();
    });
    expect((await createHttpFetch(url, {})(url)).status).toBe(307);
    expect(connections()).toBe(1);
  });

  test('uses its connection again, also after a body that was not read to its end', async () => {
    const { url, connections } = await serve((_request, response) => response.end('x'.repeat(200_000)));
    const fetch = createHttpFetch(url, {});
    await (await fetch(url)).text();
    await (await fetch(url)).body?.cancel();
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await (await fetch(url)).text();
    expect(connections()).toBe(1);
  });

  test('gives up a body that does not end after nobody reads it any more', async () => {
    let closed = (_how: string): void => {};
    const gone = new Promise<string>((resolve) => (closed = resolve));
    const { url } = await serve((_request, response) => {
      response.write('begun');
      response.on('close', () => closed(response.writableEnded ? 'by us' : 'by the client'));
    });
    await (await createHttpFetch(url, {})(url)).body?.cancel();
    expect(await gone).toBe('by the client');
  });

  test('holds a fast sender back while nobody reads', async () => {
    let written = 0;
    const { url } = await serve((_request, response) => {
      const push = (): void => {
        while (response.write(Buffer.alloc(65_536)) && written < 1000) written += 1;
      };
      response.on('drain', push);
      push();
    });
    const response = await createHttpFetch(url, {})(url);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(written).toBeLessThan(500);
    await response.body?.cancel();
  });

  test('ends with an error when the connection breaks in the body', async () => {
    const { url } = await serve((_request, response) => {
      response.write('begun');
      setImmediate(() => response.destroy());
    });
    const response = await createHttpFetch(url, {})(url);
    await expect(response.text()).rejects.toBeInstanceOf(TransportError);
  });

  test('is aborted before the head and in the body', async () => {
    const { url } = await serve((request, response) => {
      if (request.url === '/base/body') response.write('begun');
    });
    const fetch = createHttpFetch(url, {});
    const before = new AbortController();
    const pending = fetch(url, { signal: before.signal });
    before.abort();
    await expect(pending).rejects.toThrow('no answer from');
    const within = new AbortController();
    const response = await fetch(new URL(`${url.href}/body`), { signal: within.signal });
    within.abort();
    await expect(response.text()).rejects.toThrow('no answer from');
  });

  test.each([
    ['a line break in a value', { authorization: 'Bearer s3cr\net' }, '"authorization"'],
    ['a character above a byte', { 'x-key': 's3cr中et' }, '"x-key"'],
    ['a space in a name', { 'x key': 's3cret' }, '"x key"'],
  ])('refuses %s for good, unsent and without its value', async (_what, headers, named) => {
    const { url, connections } = await serve((_request, response) => response.end());
    const error: unknown = await createHttpFetch(url, {})(url, { headers }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'TransportError', final: true, unsent: true });
    expect(String(error)).toContain(`the header ${named} holds a line break`);
    expect(String(error)).not.toContain('s3cr');
    expect(connections()).toBe(0);
  });

  test('of a status without a body has none', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(204);
      response.end();
    });
    expect((await createHttpFetch(url, {})(url)).body).toBeNull();
  });
});
