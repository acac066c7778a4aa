import { readFileSync, readdirSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { liveTools } from '../../src/run/replay-live.ts';
import { replay } from '../../src/run/replay.ts';
import { startMcpHttp, type McpHttpServer } from '../helpers/mcp-http-server.ts';
import { calls, ofType, tell, type Told } from './harness.ts';

const SECRET = 'Bearer remote-secret-0123456789';

function task({ url }: McpHttpServer, tools: string[]): Record<string, unknown> {
  const remote = { url, headers_env: { Authorization: 'REMOTE_HEADER' }, tools };
  return { mcp_servers: { remote } };
}

function results({ events }: Told): string[] {
  return ofType(events, 'tool_end').map(({ status, content }) => {
    const [block] = content;
    return `${status}: ${block?.type === 'text' ? block.text : ''}`;
  });
}

const say = (text: string) => calls(['mcp__remote__echo', { text }]);
const done = { text: 'done' };

describe('a run with a server at a URL', () => {
  test('sends it the headers that the task names, and keeps their values out of its records', async () => {
    const server = await startMcpHttp();
    const turns = [say(`my header is ${SECRET.slice(7)}`), calls(['mcp__remote__picture', {}]), done];
    const ran = await tell({ task: task(server, ['echo', 'picture']), turns, env: { REMOTE_HEADER: SECRET } });
    expect(ran.outcome.reason).toBe('completed');
    expect(server.requests[0]?.headers.authorization).toBe(SECRET);
    expect(results(ran)[0]).toMatch(/^ok: said: my header is \[redacted/);
    const files = readdirSync(ran.run_dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { parentPath, name } of files) {
      expect(readFileSync(join(parentPath, name), 'latin1')).not.toContain('remote-secret');
    }
    expect(ofType(ran.events, 'tool_end')[1]?.content).toMatchObject([{ type: 'text' }, { type: 'image', width: 3 }]);
    expect(await replay({ run_dir: ran.run_dir })).toMatchObject({ matches: true, divergence: null });
  });

  test('is refused when a variable is not set, before anything is asked', async () => {
    const server = await startMcpHttp();
    const ran = await tell({ task: task(server, ['echo']), turns: [done], env: { REMOTE_HEADER: ' ' } });
    expect([ran.exit_code, ran.outcome.reason]).toEqual([2, 'config_error']);
    expect(ran.message).toContain('mcp_servers.remote.headers_env.Authorization: REMOTE_HEADER is not set, or empty');
    expect(server.requests).toEqual([]);
  });

  test('goes on without a server that goes away, says so, and is replayed all the same', async () => {
    const server = await startMcpHttp();
    const turns = [say('a'), calls(['mcp__remote__drop', {}]), done];
    const ran = await tell({ task: task(server, ['echo', 'drop']), turns, env: { REMOTE_HEADER: SECRET } });
    expect(ran.outcome.reason).toBe('completed');
    expect(results(ran)).toEqual(['ok: said: a', expect.stringContaining('error: [the server answered with an error')]);
    expect(ofType(ran.events, 'notice')).toMatchObject([{ code: 'mcp_silent', level: 'warning' }]);
    expect(ran.result.warnings).toEqual([expect.stringContaining('the MCP server "remote" does not answer')]);
    expect(await replay({ run_dir: ran.run_dir })).toMatchObject({ matches: true, divergence: null });
  });

  test('asks it again when the tools of a replay are live', async () => {
    const server = await startMcpHttp();
    const env = { REMOTE_HEADER: SECRET, PATH: process.env['PATH'] ?? '' };
    const ran = await tell({ task: task(server, ['echo']), turns: [say('a'), done], env });
    const before = server.requests.filter(({ rpc }) => rpc === 'tools/call').length;
    const live = liveTools({ env, cwd: ran.workspace, run_dir: ran.run_dir });
    onTestFinished(() => live.dispose());
    const again = await replay({ run_dir: ran.run_dir, live });
    expect(again).toMatchObject({ matches: true, divergence: null });
    expect(server.requests.filter(({ rpc }) => rpc === 'tools/call').length).toBe(before + 1);
  });

  test('reaches it through the proxy that the environment names', async () => {
    const server = await startMcpHttp();
    const proxy = await startProxy();
    const env = { REMOTE_HEADER: SECRET, HTTP_PROXY: proxy.url };
    const ran = await tell({ task: task(server, ['echo']), turns: [say('a'), done], env });
    expect(results(ran)).toEqual(['ok: said: a']);
    expect(new Set(proxy.asked)).toEqual(new Set([server.url]));
    expect(proxy.asked).toHaveLength(server.requests.length);
  });

  test('needs no sandbox for it on a stranger’s code, since it starts no process', async () => {
    const server = await startMcpHttp();
    const ran = await tell({
      task: { ...task(server, ['echo']), sandbox: { mode: 'auto' } },
      turns: [say('a'), done],
      env: { REMOTE_HEADER: SECRET, PATH: '/nowhere' },
      flags: { untrusted: true },
    });
    expect(ran.outcome.reason).toBe('completed');
  });
});

/** A proxy for plain HTTP that remembers what it was asked for; it ends with the test. */
async function startProxy(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((incoming, outgoing) => {
    asked.push(incoming.url ?? '');
    const { method = 'GET', headers } = incoming;
    const onward = request(incoming.url ?? '', { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}
