import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UsageError } from '../../src/core/errors.ts';
import { createAnthropicClient } from '../../src/model/anthropic.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import type { MessagesServer } from '../helpers/messages-server/types.ts';
import { anthropic, ask, KEY, modelConfig, modelRequest, testClock } from './setup.ts';
import type { Setup } from './setup.ts';

let server: MessagesServer;
beforeEach(async () => {
  server = await startMessagesServer({ replies: ['fine', 'fine'] });
});
afterEach(async () => {
  await server.close();
});

const SECRET = 'sk-ant-secret-part';

/** What a client with this environment says it cannot do. */
function refusal(setup: Setup): string {
  try {
    anthropic('http://127.0.0.1:1', setup);
  } catch (error) {
    if (error instanceof UsageError) return String(error);
    throw error;
  }
  throw new Error('a client was made');
}

async function sent(env: Record<string, string>, config: Setup['config'] = {}): Promise<string | undefined> {
  await ask(anthropic(server.url, { config, deps: { env } }), modelRequest());
  return server.turns.at(-1)?.headers.authorization;
}

describe('the key', () => {
  test('B191: is trimmed', async () => {
    expect(await sent({ ANTHROPIC_API_KEY: ` ${KEY}\n` })).toBe(`Bearer ${KEY}`);
  });

  test.each(['\n', '\0', '\r', '\u200b'])('B191: with %j inside is refused without showing it', (bad) => {
    const message = refusal({ deps: { env: { ANTHROPIC_API_KEY: `${SECRET}${bad}rest` } } });
    expect(message).toContain('ANTHROPIC_API_KEY');
    expect(message).not.toContain('secret-part');
  });

  test('comes from the variable the task names, and from no other', async () => {
    const env = { ANTHROPIC_API_KEY: 'another', MY_KEY: 'mine' };
    expect(await sent(env, { api_key_env: 'MY_KEY' })).toBe('Bearer mine');
    const message = refusal({
      config: { api_key_env: 'MY_KEY' },
      deps: { env: { ANTHROPIC_API_KEY: 'another', MY_KEY: ' ' } },
    });
    expect(message).toContain('MY_KEY');
  });

  test('is a token when only a token is there', async () => {
    expect(await sent({ ANTHROPIC_API_KEY: '', ANTHROPIC_AUTH_TOKEN: 'token' })).toBe('Bearer token');
  });

  test('that is missing is named before any request', () => {
    expect(refusal({ deps: { env: {} } })).toContain('set ANTHROPIC_API_KEY');
  });

  test('is asked of the given environment only, not of the process', () => {
    const before = process.env['ANTHROPIC_API_KEY'];
    process.env['ANTHROPIC_API_KEY'] = KEY;
    try {
      expect(refusal({ deps: { env: {} } })).toContain('no credentials');
    } finally {
      if (before === undefined) delete process.env['ANTHROPIC_API_KEY'];
      else process.env['ANTHROPIC_API_KEY'] = before;
    }
  });
});

describe('the base URL', () => {
  test('is the task’s, else that of ANTHROPIC_BASE_URL, never another provider’s', async () => {
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: `${server.url}/`, OPENAI_BASE_URL: 'http://127.0.0.1:9' };
    const deps = { env, clock: testClock(), random: () => 0, idle_timeout_ms: 1000, max_retries: 0 };
    const more = { deadline: () => 1000, redact: (text: string) => text };
    await ask(createAnthropicClient(modelConfig(), { ...deps, ...more }), modelRequest());
    expect(server.turns[0]?.path).toBe('/v1/messages');
  });

  test.each(['ftp://host', 'not a url', `https://user:${SECRET}@host`])('is refused as %s', (base_url) => {
    const message = refusal({ config: { base_url } });
    expect(message).toContain('model.base_url');
    expect(message).not.toContain('secret-part');
  });
});

test('custom headers with control characters are refused without showing them', () => {
  const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_CUSTOM_HEADERS: `X-Gate: ${SECRET}\0` };
  expect(refusal({ deps: { env } })).not.toContain('secret-part');
});

test.each([
  ['claude-sonnet-5-5', 0],
  ['claude-sonnet-5-5', 128_001],
  ['claude-haiku-4-5', 64_001],
  ['claude-haiku-4-5', 1.5],
  ['some-new-model', 0],
])('B195: %s with max_tokens %d is refused at the start', (id, max_tokens) => {
  expect(refusal({ config: { id, max_tokens } })).toContain(`model.max_tokens is ${max_tokens}`);
});
