import { tempFolder } from '../helpers/temp.ts';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BWRAP, createSandbox } from '../../src/sandbox/bubblewrap.ts';
import { parseHostRule } from '../../src/sandbox/hosts.ts';
import { startHostProxy } from '../../src/sandbox/proxy.ts';
import type { AddressInfo } from 'node:net';
import type { HostRule } from '../../src/sandbox/hosts.ts';

const missing = !existsSync(BWRAP) && process.env['AGENT_RUN_REQUIRE_BWRAP'] !== '1';
const server = createServer((request, response) => response.end(`you asked ${request.headers.host}${request.url}`));
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

/** What a program inside gets when it asks for the URL through the proxy it was told of. */
async function ask(rule: string, url: string): Promise<string> {
  const folder = tempFolder();
  const proxy = await startHostProxy(join(folder, 'proxy.sock'), [parseHostRule(rule) as HostRule]);
  const sandbox = createSandbox({
    config: {
      mode: 'required',
      network: [rule],
      env: [],
      read: [],
      write: ['.'],
      git_write: false,
      allow_untrusted: false,
    },
    workspace: folder,
    hidden: [],
    locked: [],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    home: '/root',
    proxy_socket: proxy.socket,
  });
  const code = `
    const { get } = require('node:http');
    const proxy = new URL(process.env.HTTP_PROXY);
    get({ host: proxy.hostname, port: proxy.port, path: process.argv[1], headers: { host: new URL(process.argv[1]).host } },
      (r) => { let t = ''; r.on('data', (d) => t += d).on('end', () => console.log(r.statusCode, t.trim())); })
      .on('error', (e) => console.log(e.code));`;
  const wrapped = sandbox.wrap([process.execPath, '-e', code, url], folder);
  const [file = '', ...args] = wrapped.argv;
  const output = await new Promise<string>((resolve) => {
    execFile(file, args, { cwd: '/', env: wrapped.env }, (_error, stdout, stderr) =>
      resolve(`${stdout}${stderr}`.trim()),
    );
  });
  wrapped.release?.();
  sandbox.dispose();
  proxy.close();
  return output;
}

describe.skipIf(missing)('network with a list of hosts (needs bubblewrap)', () => {
  test('reaches a listed host through the proxy', async () => {
    expect(await ask(`localhost:${port}`, `http://localhost:${port}/a?b=1`)).toBe(
      `200 you asked localhost:${port}/a?b=1`,
    );
  });

  test('is refused another host and another port', async () => {
    expect(await ask(`localhost:${port}`, 'http://example.com/')).toMatch(/^403 /);
    expect(await ask(`localhost:${port}`, `http://127.0.0.1:${port}/`)).toMatch(/^403 /);
    expect(await ask('localhost:1', `http://localhost:${port}/`)).toMatch(/^403 /);
  });
});
