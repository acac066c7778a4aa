// What a run costs in tokens, as a property of its requests.
import { expect, onTestFinished, test, vi } from 'vitest';
import { run } from '../../src/run/run.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { configOf } from './harness.ts';
import type { MessagesServer } from '../helpers/messages-server/types.ts';

vi.setConfig({ testTimeout: 60_000 });

const TURNS = 20;
const KEY = 'sk-ant-api03-not-a-real-key-0123456789';

/** A run of twenty turns, with a command that says something in each but the last. */
async function chain(): Promise<MessagesServer> {
  const calls = Array.from({ length: TURNS - 1 }, () =>
    reply.tools([{ name: 'bash', input: { command: 'seq 1 300' } }]),
  );
  const server = await startMessagesServer({ api_key: KEY, simulate_cache: true, replies: [...calls, 'Done.'] });
  onTestFinished(() => server.close());
  const model = { provider: 'anthropic', id: 'claude-sonnet-5-5', base_url: server.url };
  const task = { tools: { bash: { allow: ['seq *'] }, read_file: {} } };
  const { config, folder } = await configOf({ model, task });
  const env = { PATH: process.env['PATH'] ?? '', ANTHROPIC_API_KEY: KEY };
  const result = await run({ config, env, cwd: folder, subscribers: () => [] });
  expect(result).toMatchObject({ exit_code: 0 });
  expect(server.failures).toEqual([]);
  expect(server.turns).toHaveLength(TURNS);
  return server;
}

test('the first prompt with bash and read_file is small, and each token is written to the cache once and read ever after', async () => {
  const server = await chain();
  expect(Buffer.byteLength(server.turns[0]?.text ?? '') / 4).toBeLessThanOrEqual(700);
  const sum = { billed: 0, ideal: 0 };
  let before = 0;
  for (const { message } of server.replies) {
    const usage = message?.['usage'] as Record<string, number>; // the server's own
    const { input_tokens = 0, cache_read_input_tokens: read = 0, cache_creation_input_tokens: written = 0 } = usage;
    sum.billed += input_tokens + read * 0.1 + written * 1.25;
    sum.ideal += (input_tokens + read + written - before) * 1.25 + before * 0.1;
    before = input_tokens + read + written;
  }
  expect(sum.billed / sum.ideal).toBeLessThan(1.02);
});
