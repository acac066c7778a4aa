import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { lookUp } from '../../src/model/look-up.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import type { ModelConfig } from '../../src/core/config.ts';
import type { MessagesServer } from '../helpers/messages-server/types.ts';
import { KEY, modelConfig } from './setup.ts';

const id = 'claude-next-9';
const env = { ANTHROPIC_API_KEY: KEY };

async function service(): Promise<MessagesServer> {
  const models = { [id]: { max_input_tokens: 300_000, max_tokens: 8000 } };
  const server = await startMessagesServer({ api_key: KEY, models });
  onTestFinished(() => server.close());
  return server;
}

function ask(changes: Partial<ModelConfig>, given = env, signal = new AbortController().signal): Promise<ModelConfig> {
  return lookUp(modelConfig({ id, claude_api: true, ...changes }), given, { signal });
}

test('the service tells the sizes of a model that the table does not know', async () => {
  const server = await service();
  expect(await ask({ base_url: server.url })).toMatchObject({ context_tokens: 300_000, max_tokens: 8000 });
  expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([`GET /v1/models/${id}`]);
});

test.each<[string, Partial<ModelConfig>]>([
  ['a known model', { id: 'claude-opus-5' }],
  ['a model whose size the task says', { context_tokens: 5000 }],
  ['another service', { claude_api: false }],
])('nothing is asked about %s', async (_name, changes) => {
  const server = await service();
  const given = modelConfig({ id, claude_api: true, base_url: server.url, ...changes });
  expect(await ask({ base_url: server.url, ...changes })).toEqual(given);
  expect(server.requests).toEqual([]);
});

test('whatever fails leaves the sizes unknown', async () => {
  const server = await service();
  const unknown = { base_url: server.url, id: 'claude-never' };
  expect(await ask(unknown)).not.toHaveProperty('context_tokens');
  expect(await ask({ base_url: server.url }, { ANTHROPIC_API_KEY: '' })).not.toHaveProperty('context_tokens');
  expect(await ask({ base_url: 'http://127.0.0.1:1' })).not.toHaveProperty('context_tokens');
  expect(await ask({ base_url: server.url }, env, AbortSignal.abort())).not.toHaveProperty('context_tokens');
});

test('the service tells that a model cannot be shown images', async () => {
  const capabilities = { image_input: { supported: false } };
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ id, capabilities }));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  expect(await ask({ base_url: `http://127.0.0.1:${port}` })).toMatchObject({ images: false });
});
