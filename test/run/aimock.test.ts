// Runs driven by a mock server that others wrote: its idea of both protocols, not ours.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isJsonObject } from '../../src/core/json.ts';
import { tempFolder, writeTree } from '../helpers/temp.ts';
import { ofType, tell } from './harness.ts';

const AIMOCK = fileURLToPath(new URL('../../node_modules/@copilotkit/aimock/dist/cli.js', import.meta.url));
const READ = { name: 'read_file', arguments: '{"path":"README.md"}', id: 'call_read' };
const LOOK = { name: 'glob', arguments: '{"pattern":"*.md"}', id: 'call_look' };
const QUESTION = 'What is the project called?';
const FIXTURES = [
  {
    match: { userMessage: QUESTION, sequenceIndex: 0 },
    response: { error: { message: 'busy', type: 'overloaded_error' }, status: 529 },
  },
  {
    match: { userMessage: QUESTION, hasToolResult: false },
    response: {
      toolCalls: [READ, LOOK],
      usage: { input_tokens: 50, output_tokens: 9, prompt_tokens: 50, completion_tokens: 9, total_tokens: 59 },
    },
  },
  {
    match: { userMessage: QUESTION, hasToolResult: true },
    response: {
      content: '{"name":"Lighthouse"}',
      reasoning: 'The file says it.',
      usage: { input_tokens: 80, output_tokens: 7, prompt_tokens: 80, completion_tokens: 7, total_tokens: 87 },
    },
  },
];

/** Starts the server with these fixtures as a process of its own; a request that no fixture matches is refused. */
async function startAimock(fixtures: object[]): Promise<{ url: string; paths: () => Promise<string[]> }> {
  const folder = tempFolder();
  writeTree(folder, { 'fixtures.json': JSON.stringify({ fixtures }) });
  const port = await freePort();
  const args = [AIMOCK, '-p', String(port), '-f', join(folder, 'fixtures.json'), '--strict', '--validate-on-load'];
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [server.stdout, server.stderr]) stream.setEncoding('utf8').on('data', (text) => (log += text));
  onTestFinished(() => void server.kill());
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (server.exitCode !== null) throw new Error(`aimock did not start:\n${log}`);
    const answer = await fetch(`${url}/__aimock/journal`).catch(() => undefined); // refused until it listens
    if (answer?.ok) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const paths = async (): Promise<string[]> => {
    const journal = (await (await fetch(`${url}/__aimock/journal`)).json()) as { path: string }[];
    return journal.map((entry) => entry.path);
  };
  return { url, paths };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return isJsonObject(address) ? Number(address['port']) : 0;
}

describe.each([
  ['chat completions', { provider: 'openai', id: 'gpt-5' }, '/v1', '/v1/chat/completions'],
  ['messages', { provider: 'anthropic', id: 'claude-sonnet-5-5', api_key_env: 'AIMOCK_KEY' }, '', '/v1/messages'],
])('a run over the %s of a third party’s mock server', (_name, model, path, endpoint) => {
  test('goes through a retry, parallel calls, thinking and a checked output', async () => {
    const server = await startAimock(FIXTURES);
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
      additionalProperties: false,
    };
    const { result, events } = await tell({
      model: { ...model, base_url: server.url + path },
      task: { prompt: QUESTION, tools: { read_file: {}, glob: {} }, output: { schema } },
      files: { 'README.md': 'The project is called Lighthouse.\n' },
      env: { AIMOCK_KEY: 'sk-any-key-will-do-for-the-mock' },
    });
    expect(result).toMatchObject({ exit_code: 0, output: { name: 'Lighthouse' }, turns: 2 });
    expect(result.tool_calls).toMatchObject({ total: 2, failed: 0 });
    expect(result.usage).toMatchObject({ retries: 1, last_input_tokens: 80, total_output_tokens: 16 });
    expect(ofType(events, 'attempt')).toMatchObject([{ status: 529 }]);
    expect(ofType(events, 'tool_end')).toMatchObject([
      { name: 'read_file', status: 'ok' },
      { name: 'glob', status: 'ok' },
    ]);
    expect(await server.paths()).toEqual(Array(3).fill(endpoint));
  });

  test('ends by name where the server knows no answer', async () => {
    const server = await startAimock(FIXTURES);
    const { result } = await tell({
      model: { ...model, base_url: server.url + path },
      task: { prompt: 'Something else.', limits: { max_retries: 0 } },
      env: { AIMOCK_KEY: 'sk-any-key-will-do-for-the-mock' },
    });
    expect(result).toMatchObject({ exit_code: 6, exit_reason: 'api_error', output: null });
  });
});
