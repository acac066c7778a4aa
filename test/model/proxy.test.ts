import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import type { Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterEach, describe, expect, test } from 'vitest';
import { UsageError } from '../../src/core/errors.ts';
import { proxyFor } from '../../src/model/proxy.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { anthropic, ask, fail, KEY, modelRequest } from './setup.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

interface TestProxy {
  url: string;
  /** First lines and credentials of what it was asked. */
  seen: string[];
}

/** A proxy for absolute-form requests and tunnels; `status` other than 200 refuses tunnels, 0 leaves them hanging. */
async function startProxy(status = 200): Promise<TestProxy> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`);
    const target = new URL(request.url ?? '');
    const { 'proxy-authorization': _secret, ...headers } = request.headers;
    const options = { method: request.method, headers };
    const onward = forward(target, options, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.on('connect', (request, socket: Socket) => {
    seen.push(`CONNECT ${request.url} ${request.headers['proxy-authorization'] ?? ''}`);
    if (status === 0) return;
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const [, port] = (request.url ?? '').split(':');
    const onward = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, seen };
}

describe('the environment', () => {
  const at = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.href;

  test('names a proxy for each scheme, in small letters before capitals', () => {
    expect(at('https://api.test', { HTTPS_PROXY: 'http://p:1' })).toBe('http://p:1/');
    expect(at('https://api.test', { HTTPS_PROXY: 'http://p:1', https_proxy: 'q:2' })).toBe('http://q:2/');
    expect(at('http://api.test', { HTTPS_PROXY: 'http://p:1' })).toBeUndefined();
    expect(at('http://api.test', { HTTP_PROXY: 'http://p:1' })).toBe('http://p:1/');
    expect(at('https://api.test', { HTTPS_PROXY: ' ' })).toBeUndefined();
  });

  test.each([
    ['api.test', true],
    ['.test', true],
    ['*.test', true],
    ['other, api.test:443', true],
    ['*', true],
    ['api.test:8443', false],
    ['pi.test', false],
    ['api.test.org', false],
    ['', false],
  ])('NO_PROXY=%s excludes api.test: %s', (NO_PROXY, excluded) => {
    expect(at('https://api.test', { HTTPS_PROXY: 'http://p:1', NO_PROXY }) === undefined).toBe(excluded);
  });

  test('NO_PROXY takes addresses of both families', () => {
    const env = { HTTP_PROXY: 'http://p:1', NO_PROXY: '127.0.0.1 ::1' };
    expect(at('http://127.0.0.1:80', env)).toBeUndefined();
    expect(at('http://[::1]:80', env)).toBeUndefined();
    expect(at('http://127.0.0.2', env)).toBe('http://p:1/');
  });

  test('with a proxy that is none is refused without showing it', () => {
    const read = () => at('https://api.test', { HTTPS_PROXY: 'socks5://user:hidden@p:1' });
    expect(read).toThrow(UsageError);
    expect(read).toThrow(/^(?!.*hidden).*HTTPS_PROXY/);
  });
});

describe('a proxy', () => {
  test('is asked for the whole URL of an http service, with its own credentials', async () => {
    const server = await startMessagesServer({ replies: ['through the proxy'], api_key: KEY });
    closers.push(() => server.close());
    const { url, seen } = await startProxy();
    const env = { ANTHROPIC_API_KEY: KEY, HTTP_PROXY: url.replace('//', '//me:p%40ss@') };
    const reply = await ask(anthropic(server.url, { deps: { env } }), modelRequest());
    expect(reply.content).toEqual([{ type: 'text', text: 'through the proxy' }]);
    expect(seen).toEqual([`POST ${server.url}/v1/messages Basic ${Buffer.from('me:p@ss').toString('base64')}`]);
    expect(server.turns[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  test.each([
    [407, 1],
    [502, 3],
  ])('that answers %i to a tunnel ends the turn after %i attempts', async (status, attempts) => {
    const { url, seen } = await startProxy(status);
    const env = { ANTHROPIC_API_KEY: KEY, HTTPS_PROXY: url };
    const result = await fail(anthropic('https://api.test', { deps: { env, max_retries: 2 } }));
    expect(result.message).toContain(`refused a tunnel to api.test:443 with status ${status}`);
    expect(seen).toHaveLength(attempts);
  });

  test('that never answers is left at an abort', async () => {
    const { url, seen } = await startProxy(0);
    const env = { ANTHROPIC_API_KEY: KEY, HTTPS_PROXY: url };
    const deps = { env, idle_timeout_ms: 50, max_retries: 1 };
    const result = await fail(anthropic('https://api.test', { deps }));
    expect(result.message).toContain('sent nothing for 50ms');
    expect(seen).toHaveLength(2);
  });

  test('carries TLS to a service whose certificate NODE_EXTRA_CA_CERTS makes known, over one connection', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'agent-run-tls-'));
    closers.push(() => rmSync(folder, { recursive: true }));
    const [key, cert, script] = ['key.pem', 'cert.pem', 'client.mjs'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const make = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      cert,
      ...subject,
    ];
    execFileSync('openssl', make, { stdio: 'ignore' });
    const service = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) =>
      response.end('hello'),
    );
    const port = await listen(service);
    const { url, seen } = await startProxy();
    const contents = `
      import { createHttpFetch } from './src/model/http-fetch.ts';
      const url = new URL('https://localhost:${port}/');
      const fetch = createHttpFetch(url, process.env);
      for (let n = 0; n < 2; n += 1) console.log(await fetch(url).then((r) => r.text(), (e) => e.code));`;
    const stdin = { contents, resolveDir: process.cwd(), loader: 'ts' as const };
    await build({ stdin, outfile: script, bundle: true, format: 'esm', platform: 'node', logLevel: 'silent' });
    const run = async (env: Record<string, string>): Promise<string> =>
      (await promisify(execFile)(process.execPath, [script], { env: { HTTPS_PROXY: url, ...env } })).stdout;
    expect(await run({ NODE_EXTRA_CA_CERTS: cert })).toBe('hello\nhello\n');
    expect(seen).toEqual([`CONNECT localhost:${port} `]);
    expect(await run({})).toMatch(/SELF_SIGNED/);
  });
});
