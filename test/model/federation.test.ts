import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lookUp } from '../../src/model/look-up.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import type { ReplyLike } from '../helpers/messages-server/types.ts';
import { REQUEST_TOKEN, startTokenServer } from '../helpers/token-server/server.ts';
import type { TokenServer, TokenServerOptions } from '../helpers/token-server/types.ts';
import { tempFolder } from '../helpers/temp.ts';
import { anthropic, ask, fail, modelConfig, modelRequest, recordHooks, testClock } from './setup.ts';
import type { Setup, TestClock } from './setup.ts';
import type { ModelClient } from '../../src/core/ports.ts';

interface Place {
  tokens: TokenServer;
  clock: TestClock;
  /** What `onSecret` heard. */
  secrets: string[];
  client: (setup?: Setup) => ModelClient;
}

/** A job that may ask for identity tokens, and the service behind its access tokens. */
async function place(options: TokenServerOptions = {}, replies: ReplyLike[] = ['one', 'two', 'three']): Promise<Place> {
  const service = await startMessagesServer({ replies });
  const tokens = await startTokenServer({ upstream: service.url, ...options });
  onTestFinished(async () => {
    await tokens.close();
    await service.close();
  });
  const clock = testClock();
  const secrets: string[] = [];
  const onSecret = (value: string): void => void secrets.push(value);
  const client = ({ config, deps }: Setup = {}): ModelClient =>
    anthropic(tokens.url, { config: { ...config }, deps: { env: tokens.env, clock, onSecret, ...deps } });
  return { tokens, clock, secrets, client };
}

describe('keyless access', () => {
  test('exchanges an identity token once, and sends the access token with its beta', async () => {
    const { tokens, client, secrets } = await place();
    const one = client();
    await ask(one, modelRequest());
    await ask(one, modelRequest());
    expect(tokens.refusals).toEqual([]);
    expect(tokens.identity).toHaveLength(1);
    expect(tokens.used).toEqual([tokens.access[0], tokens.access[0]]);
    expect(secrets).toEqual([tokens.identity[0], tokens.access[0]]);
  });

  test('names service account and workspace when they are given', async () => {
    const { tokens, client } = await place({ rule: { service_account_id: 'svac_1', workspace_id: 'wrkspc_1' } });
    await ask(client(), modelRequest());
    expect(tokens.refusals).toEqual([]);
  });

  test('is shared by the clients of an environment, which may have one identity token only', async () => {
    const { tokens, client } = await place();
    const both = [client(), client({ config: { id: 'claude-haiku-5-5' } })];
    await Promise.all(both.map((one) => ask(one, modelRequest())));
    expect(tokens.access).toHaveLength(1);
  });

  test('asks the service about an unknown model with a token too', async () => {
    const { tokens } = await place();
    const config = modelConfig({ id: 'claude-unknown', claude_api: true, base_url: tokens.url });
    const secrets: string[] = [];
    const onSecret = (value: string): void => void secrets.push(value);
    await lookUp(config, tokens.env, { signal: new AbortController().signal, onSecret });
    expect(secrets).toEqual([tokens.identity[0], tokens.access[0]]);
    expect(tokens.used).toEqual([tokens.access[0]]);
  });

  test('renews in mid-run before the token ends, with a fresh identity token', async () => {
    const { tokens, client, clock } = await place({ expires_in: [600] });
    const one = client();
    await ask(one, modelRequest());
    await clock.sleep(470_000, new AbortController().signal);
    await ask(one, modelRequest());
    await clock.sleep(20_000, new AbortController().signal);
    await ask(one, modelRequest());
    expect(tokens.refusals).toEqual([]);
    expect(tokens.used).toEqual([tokens.access[0], tokens.access[0], tokens.access[1]]);
    expect(new Set(tokens.identity).size).toBe(2);
  });

  test('keeps a token that still lives when an early renewal fails', async () => {
    const { tokens, client, clock } = await place({ faults: { exchange: [null, { status: 503, body: '{}' }] } });
    const one = client();
    await ask(one, modelRequest());
    await clock.sleep(500_000, new AbortController().signal);
    await ask(one, modelRequest());
    expect(tokens.used).toEqual([tokens.access[0], tokens.access[0]]);
  });

  test('B175: a 401 gets one fresh token', async () => {
    const { tokens, client } = await place();
    const one = client();
    await ask(one, modelRequest());
    tokens.revoke(tokens.access[0] ?? '');
    const hooks = recordHooks();
    await ask(one, modelRequest(), hooks);
    expect(hooks.attempts).toMatchObject([{ status: 401, wait_ms: 0 }]);
    expect(tokens.used).toEqual([tokens.access[0], tokens.access[0], tokens.access[1]]);
  });

  test('B175: a 401 gets one fresh token even where retries are off', async () => {
    const { tokens, client } = await place({ expires_in: [0, 600] });
    await ask(client({ deps: { max_retries: 0 } }), modelRequest());
    expect(tokens.used).toEqual(tokens.access);
    const other = await place({ expires_in: [0] });
    expect(await fail(other.client({ deps: { max_retries: 0 } }))).toMatchObject({ kind: 'auth_error', status: 401 });
    expect(other.tokens.used).toHaveLength(2);
  });

  test('B175: a 401 to the fresh token too ends the run', async () => {
    const refused = { status: 401, body: '' };
    const { tokens, client } = await place({ expires_in: [0] });
    const failure = await fail(client());
    expect(failure).toMatchObject({ kind: 'auth_error', status: refused.status });
    expect(failure.message).toContain('a fresh access token was refused too');
    expect(tokens.used).toHaveLength(2);
  });

  test('tries a token service again that is down, and is not down any more', async () => {
    const { client } = await place({ faults: { id: [{ status: 503, body: '' }, 'reset'], exchange: ['reset'] } });
    const hooks = recordHooks();
    await ask(client(), modelRequest(), hooks);
    expect(hooks.attempts.map(({ error_type }) => error_type)).toEqual(['federation', 'federation', 'federation']);
  });
});

describe('keyless access that is not given', () => {
  test.each([
    ['another rule', { ANTHROPIC_FEDERATION_RULE_ID: 'fdrl_02' }, {}, 'check that the rule fdrl_02 matches this token'],
    ['a clock ahead', {}, { skew_s: 900 }, "valid only 900 s after the service's time"],
    ['a clock behind', {}, { skew_s: -900 }, "ended 600 s before the service's time"],
  ])('by %s is an auth_error that says what to check', async (_, env, options, text) => {
    const { tokens, client } = await place(options);
    const failure = await fail(client({ deps: { env: { ...tokens.env, ...env } } }));
    expect(failure).toMatchObject({ kind: 'auth_error', status: 401 });
    expect(failure.message.replaceAll(/\b(?:899|901)\b/g, '900').replaceAll(/\b(?:599|601)\b/g, '600')).toContain(text);
    expect(tokens.identity).toHaveLength(1);
    expect(failure.message).not.toContain(tokens.identity[0]);
  });

  test('shows the subject of the token that no rule matched', async () => {
    const { tokens, client } = await place();
    const env = { ...tokens.env, ANTHROPIC_ORGANIZATION_ID: 'org-02' };
    expect((await fail(client({ deps: { env } }))).message).toContain('sub "repo:octo/repo:ref:refs/heads/main"');
  });

  test.each([
    ['a redirect', { status: 307, body: '' }],
    [
      'a token that breaks its header',
      { status: 200, body: '{"access_token":"sk-ant-oat01\\nx: y","expires_in":600}' },
    ],
    ['a token too short to be one', { status: 200, body: '{"access_token":"x","expires_in":600}' }],
    ['no token', { status: 200, body: '{"expires_in":600}' }],
    ['no time', { status: 200, body: '{"access_token":"sk-ant-oat01-0123456789"}' }],
    ['a page', { status: 200, body: '<html>' }],
  ])('by %s in the answer to an exchange', async (_, fault) => {
    const { tokens, client } = await place({ faults: { exchange: [fault] } });
    expect(await fail(client())).toMatchObject({ kind: 'auth_error', status: fault.status });
    expect(tokens.used).toEqual([]);
  });

  test('by GitHub names the permission', async () => {
    const { tokens, client } = await place({ faults: { id: [{ status: 403, body: 'Forbidden' }] } });
    const failure = await fail(client());
    expect(failure).toMatchObject({ kind: 'auth_error', status: 403 });
    expect(failure.message).toContain('id-token: write');
    expect(failure.message).not.toContain(REQUEST_TOKEN);
    expect(tokens.access).toEqual([]);
  });

  test('by a job without the permission is found before any request', async () => {
    const { tokens, client } = await place();
    const { ACTIONS_ID_TOKEN_REQUEST_URL: _, ...env } = tokens.env;
    expect(() => client({ deps: { env: { ...env, GITHUB_ACTIONS: 'true' } } })).toThrow('permissions: id-token: write');
    expect(() => client({ deps: { env } })).toThrow('ANTHROPIC_IDENTITY_TOKEN_FILE');
  });

  test('for half the ids, for plain http and for another address', async () => {
    const { tokens, client } = await place();
    const wrong =
      (env: object): (() => ModelClient) =>
      () =>
        client({ deps: { env: { ...tokens.env, ...env } } });
    expect(wrong({ ANTHROPIC_ORGANIZATION_ID: ' ' })).toThrow('ANTHROPIC_ORGANIZATION_ID is not');
    expect(wrong({ ANTHROPIC_BASE_URL: 'http://model.example' })).toThrow('no token is sent without TLS');
    expect(wrong({ ACTIONS_ID_TOKEN_REQUEST_URL: 'http://id.example' })).toThrow('no token is sent without TLS');
    expect(wrong({ ANTHROPIC_BASE_URL: '' })).toThrow('access tokens are for https://api.anthropic.com only');
    expect(tokens.identity).toEqual([]);
  });
});

describe('an identity token that is handed out', () => {
  test('in a variable is good for one exchange, and the run says so when it needs another', async () => {
    const { tokens, client, clock } = await place();
    const { ANTHROPIC_BASE_URL, ANTHROPIC_FEDERATION_RULE_ID, ANTHROPIC_ORGANIZATION_ID } = tokens.env;
    const ids = { ANTHROPIC_BASE_URL, ANTHROPIC_FEDERATION_RULE_ID, ANTHROPIC_ORGANIZATION_ID };
    const one = client({ deps: { env: { ...ids, ANTHROPIC_IDENTITY_TOKEN: tokens.issue() } } });
    await ask(one, modelRequest());
    await clock.sleep(590_000, new AbortController().signal);
    const failure = await fail(one);
    expect(failure.kind).toBe('auth_error');
    expect(failure.message).toContain('ANTHROPIC_IDENTITY_TOKEN still holds the identity token');
  });

  test('in a file is read again for each exchange', async () => {
    const { tokens, client, clock } = await place();
    const file = join(tempFolder(), 'token');
    const one = client({ deps: { env: { ...tokens.env, ANTHROPIC_IDENTITY_TOKEN_FILE: file } } });
    expect((await fail(one)).message).toContain('ENOENT');
    writeFileSync(file, `${tokens.issue()}\n`);
    await ask(one, modelRequest());
    writeFileSync(file, tokens.issue());
    await clock.sleep(590_000, new AbortController().signal);
    await ask(one, modelRequest());
    expect(tokens.access).toHaveLength(2);
  });
});
