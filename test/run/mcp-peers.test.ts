// The reference servers of the protocol, as their authors ship them: nothing of ours is on the other side.

import { spawn } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { calls, ofType, tell, type Told } from './harness.ts';

function script(name: string): string {
  return fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url));
}

const everything = script('server-everything');

function results({ events }: Told): string[] {
  return ofType(events, 'tool_end').map(({ status, content }) => {
    const [block] = content;
    return `${status}: ${block?.type === 'text' ? block.text : ''}`;
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

/** server-everything at a URL; it ends with the test. */
async function serveEverything(): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, [everything, 'streamableHttp'], {
    env: { PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise<void>((resolve) => {
    child.stderr.on('data', (chunk: Buffer) => {
      if (chunk.includes('listening on port')) resolve();
    });
  });
  return `http://127.0.0.1:${port}/mcp`;
}

const CALLS: [name: string, input: Record<string, unknown>, answer: RegExp][] = [
  ['echo', { message: 'hello' }, /^ok: Echo: hello$/],
  ['get-sum', { a: 2, b: 40 }, /^ok: The sum of 2 and 40 is 42\.$/],
  ['get-sum', { a: 'two', b: 40 }, /^invalid: .*\/a/],
  ['get-tiny-image', {}, /^ok: .*shown below as number 1/s],
  ['get-resource-links', { count: 1 }, /^ok: .*\[resource "demo:\/\//s],
  ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }, /^ok: .*\[resource "demo:\/\/.*\nResource 1/s],
  ['get-structured-content', { location: 'New York' }, /^ok: \{"temperature":\d+/],
];
const TOOLS = [...new Set(CALLS.map(([name]) => name))];

test(
  'server-everything, as a process and at a URL, and server-filesystem in one run',
  { timeout: 60_000 },
  async () => {
    const url = await serveEverything();
    const mcp_servers = {
      near: { command: process.execPath, args: [everything, 'stdio'], tools: TOOLS, read_only: TOOLS },
      far: { url, tools: TOOLS, read_only: TOOLS },
      files: {
        command: process.execPath,
        args: [script('server-filesystem'), 'docs'],
        tools: ['list_directory', 'read_text_file', 'write_file'],
        read_only: ['list_directory', 'read_text_file'],
      },
    };
    const ask = (server: string) =>
      calls(...CALLS.map(([name, input]): [string, Record<string, unknown>] => [`mcp__${server}__${name}`, input]));
    const turns = [
      ask('near'),
      ask('far'),
      calls(
        ['mcp__files__write_file', { path: 'b.txt', content: 'written by it\n' }],
        ['mcp__files__list_directory', { path: '.' }],
        ['mcp__files__read_text_file', { path: '../README.md' }],
      ),
      { text: 'done' },
    ];
    const ran = await tell({ task: { mcp_servers }, turns, files: { 'docs/a.txt': 'a\n' } });
    expect(ran.message).toBe('completed');
    const answers = CALLS.map(([, , answer]) => expect.stringMatching(answer) as string);
    expect(results(ran)).toEqual([
      ...answers,
      ...answers,
      expect.stringMatching(/^ok: Successfully wrote/),
      expect.stringMatching(/^ok: \[FILE\] a\.txt\n\[FILE\] b\.txt/),
      expect.stringMatching(/^error: Access denied/),
    ]);
    const images = ofType(ran.events, 'tool_end').flatMap(({ content }) =>
      content.filter(({ type }) => type === 'image'),
    );
    expect(images).toMatchObject([{ source: { media_type: 'image/png' } }, { source: { media_type: 'image/png' } }]);
    expect(await replay({ run_dir: ran.run_dir })).toMatchObject({ matches: true, divergence: null });
  },
);
