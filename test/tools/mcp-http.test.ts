import { describe, expect, test } from 'vitest';
import { createHttpFetch } from '../../src/model/http-fetch.ts';
import type { McpTools } from '../../src/tools/mcp.ts';
import { startMcpHttp, type McpHttpOptions, type McpHttpServer } from '../helpers/mcp-http-server.ts';
import { started, stub } from './mcp-helpers.ts';
import { call, textOf, toolContext } from './tool-context.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { Tool, ToolContext, ToolOutput } from '../../src/core/ports.ts';

const PLAN = { kind: 'call', effect: 'write' } as const;
const TOOLS = [
  'echo',
  'hang',
  'drop',
  'leave',
  'garbage',
  'page',
  'refuse',
  'long',
  'flood',
  'change',
  'sample',
  'spam',
  'forget',
];

interface Connected extends McpTools {
  server: McpHttpServer;
  notices: string[];
  ask: (name: string, input?: JsonObject, changes?: Partial<ToolContext>) => Promise<ToolOutput>;
}

async function connected(options: McpHttpOptions = {}, headers: Record<string, string> = {}): Promise<Connected> {
  const server = await startMcpHttp(options);
  const notices: string[] = [];
  const url = new URL(server.url);
  const config = stub({}, { command: [], url: server.url, tools: [...TOOLS, 'picture'], timeout_ms: 3000 });
  const tools = await started([config], {
    httpFor: () => ({ url, headers, fetch: createHttpFetch(url, {}) }),
    notify: (code, message) => notices.push(`${code}: ${message}`) > 0,
  });
  const found = (name: string): Tool => tools.tool(name);
  const ask: Connected['ask'] = async (name, input = {}, changes = {}) =>
    call(found(name), input, PLAN, toolContext({ timeout_ms: 5000, ...changes }).context);
  return { ...tools, server, notices, ask };
}

async function heard(asked: Promise<ToolOutput>): Promise<[string, string]> {
  const output = await asked;
  return [output.status, textOf(output)];
}

describe.each([{ sse: false }, { sse: true }])('a server at a URL that answers with %j', (form) => {
  test('offers its tools, takes calls, and says goodbye at the end', async () => {
    const { ask, server, end } = await connected(form, { authorization: 'Bearer s3cret-value' });
    expect(await heard(ask('echo', { text: 'a' }))).toEqual(['ok', 'said: a']);
    await end();
    expect(server.requests.map(({ method }) => method)).toContain('DELETE');
    expect(new Set(server.requests.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer s3cret-value']),
    );
    expect(server.requests.at(-1)?.headers['mcp-session-id']).toBe('session-1');
  });

  test('passes on images by what they are, and links to resources as text', async () => {
    const { ask } = await connected(form);
    const { content } = await ask('picture');
    expect(content).toMatchObject([
      {
        type: 'text',
        text: expect.stringMatching(
          /^look\n\[image, "image\/gif", about \d+ bytes, shown below as number 1\]\n\[resource "doc:\/\/b", "text\/plain", name "b"\]$/,
        ) as string,
      },
      { type: 'image', source: { media_type: 'image/png' }, width: 3, height: 2 },
    ]);
  });

  test('is told at once that an answer is too long, and the next call works', async () => {
    const { ask } = await connected(form);
    expect(await heard(ask('long'))).toEqual([
      'error',
      expect.stringContaining('more than 8388608 bytes; ask for less'),
    ]);
    expect(await heard(ask('echo', { text: 'b' }))).toEqual(['ok', 'said: b']);
  });
});

describe('a call to a server at a URL', () => {
  test.each([
    ['drop', /no answer from 127\.0\.0\.1:\d+/],
    ['leave', /it closed the connection without an answer/],
    ['garbage', /it closed the connection without an answer/],
    ['page', /Unexpected content type: text\/html/],
    ['refuse', /Error POSTing to endpoint: no \*\*\* here \(status 500\)/],
  ])('%s: is an error with its cause, and the next one works', async (name, message) => {
    const { ask } = await connected();
    const redact = (text: string): string => text.replaceAll('s3cret-value', '***');
    expect(await heard(ask(name, {}, { redact }))).toEqual(['error', expect.stringMatching(message)]);
    expect(await heard(ask('echo', { text: 'b' }))).toEqual(['ok', 'said: b']);
  });

  test('that hangs times out, and does not keep the connection', async () => {
    const { ask } = await connected();
    const hung = Array.from({ length: 20 }, () => ask('hang', {}, { timeout_ms: 300 }));
    for (const output of await Promise.all(hung)) expect(output.status).toBe('timed_out');
    expect(await heard(ask('echo', { text: 'b' }))).toEqual(['ok', 'said: b']);
  });

  test('is cut when the run ends', async () => {
    const { ask } = await connected();
    expect((await ask('hang', {}, { signal: AbortSignal.timeout(200) })).status).toBe('cancelled');
  });

  test('that floods is cut at what an answer may have, and the next one works', async () => {
    const { ask, notices } = await connected();
    expect(await heard(ask('flood'))).toEqual(['error', expect.stringContaining('more than 8388608 bytes')]);
    expect(await heard(ask('echo', { text: 'b' }))).toEqual(['ok', 'said: b']);
    expect(notices).toEqual([]);
  });

  test('to one that sends what nobody asked for is an error from then on, and a notice says so', async () => {
    const { ask, notices } = await connected();
    expect((await ask('spam')).status).toBe('ok');
    await expect
      .poll(() => notices, { timeout: 10_000 })
      .toEqual([
        'mcp_gone: the MCP server "stub" is gone: it was cut off: it sent more than it was asked for; calls to its tools are errors from now on',
      ]);
    expect(await heard(ask('echo', { text: 'b' }))).toEqual([
      'error',
      expect.stringContaining('is gone: it was cut off'),
    ]);
  });

  test('to one that is gone is an error, and the notice says so once', async () => {
    const { ask, server, notices } = await connected();
    server.close();
    expect(await heard(ask('echo', { text: 'b' }))).toEqual(['error', expect.stringContaining('no answer from')]);
    expect(await heard(ask('echo', { text: 'b' }))).toEqual(['error', expect.stringContaining('no answer from')]);
    expect(notices).toEqual([expect.stringMatching(/^mcp_silent: the MCP server "stub" does not answer/)]);
  });

  test('that changes the list of tools changes nothing, and the notice says so once', async () => {
    const { ask, notices } = await connected();
    expect(await heard(ask('change'))).toEqual(['ok', 'changed']);
    expect(await heard(ask('change'))).toEqual(['ok', 'changed']);
    expect(await heard(ask('echo', { text: 'b' }))).toEqual(['ok', 'said: b']);
    expect(notices).toEqual([expect.stringContaining('mcp_list_changed')]);
  });

  test('to one that was started anew greets it again, once for all calls at the time', async () => {
    const { ask, server, notices } = await connected();
    expect(await heard(ask('forget'))).toEqual(['ok', 'who are you?']);
    const both = await Promise.all([heard(ask('echo', { text: 'b' })), heard(ask('echo', { text: 'c' }))]);
    expect(both).toEqual([
      ['ok', 'said: b'],
      ['ok', 'said: c'],
    ]);
    expect(server.requests.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(2);
    expect(notices).toEqual([]);
  });

  test('that asks for a completion gets none', async () => {
    const { ask, server } = await connected();
    expect(await heard(ask('sample'))).toEqual(['ok', 'asked']);
    expect(server.requests.map(({ rpc }) => rpc)).not.toContain('sampling/createMessage');
  });
});

describe('a server at a URL that cannot be used', () => {
  async function refused(options: McpHttpOptions, headers: Record<string, string> = {}): Promise<string> {
    const failed: unknown = await connected(options, headers).catch((error: unknown) => error);
    return failed instanceof Error ? failed.message : '';
  }

  test('is mcp_unavailable when it does not answer in time', async () => {
    expect(await refused({ silent: 'tools/list' })).toBe('MCP server "stub": did not answer within 3000 ms');
  });

  test('is mcp_unavailable when it says no', async () => {
    expect(await refused({ status: 403 })).toMatch(/^MCP server "stub": .*not for you \(status 403\)$/);
  });

  test('is not followed to another origin, which sees no header', async () => {
    const other = await startMcpHttp();
    expect(await refused({ redirect: other.url }, { authorization: 'Bearer s3cret-value' })).toContain('redirect');
    expect(other.requests).toEqual([]);
  });
});
