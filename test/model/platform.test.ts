// With the vendor's own clients for both clouds, against loopback; the real services were not tried.
import { createHash } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { createModelClient } from '../../src/model/create.ts';
import { asEventStream, asSse, EVENTS, startPlatformServer } from '../helpers/platforms/server.ts';
import { answered, ask, fail, modelConfig, modelRequest, READ_FILE, recordHooks, testClock, user } from './setup.ts';
import type { ModelConfig } from '../../src/core/config.ts';
import type { ModelClient } from '../../src/core/ports.ts';

const AWS = {
  AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const NO_AWS = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_PROFILE: '', AWS_EC2_METADATA_DISABLED: 'true' };
const REQUEST = modelRequest([user('go')], { tools: [READ_FILE] });

/** The clients read their credentials from the process's own environment. */
async function client(config: Partial<ModelConfig>, env: Record<string, string>): Promise<ModelClient> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  return createModelClient(modelConfig(config), {
    env,
    clock: testClock(),
    random: () => 0,
    idle_timeout_ms: 5_000,
    max_retries: 1,
    deadline: () => 600_000,
    redact: (text) => text,
  });
}

describe('a model at Bedrock', () => {
  const id = 'eu.anthropic.claude-sonnet-5-5-v1:0';
  const config = { id, platform: 'bedrock' as const, region: 'eu-central-1' };

  test('is asked in Bedrock’s form, signed over the bytes that are sent', async () => {
    const server = await startPlatformServer(() => asEventStream(EVENTS));
    const asked = await client({ ...config, base_url: server.url }, AWS);
    const reply = await ask(asked, REQUEST);
    expect(reply).toMatchObject({
      content: [{ type: 'tool_use', input_json: '{"path":"a","n":2512292042121000001}' }],
      usage: { input_tokens: 30, output_tokens: 12 },
      request_id: 'aws-request-1',
      cost_usd: null,
    });
    await ask(asked, modelRequest([user('go'), ...answered(reply)], { tools: [READ_FILE] }));
    const [first, second] = server.requests;
    expect(first?.url).toBe('/model/eu.anthropic.claude-sonnet-5-5-v1%3A0/invoke-with-response-stream');
    expect(first?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=\S+, Signature=[0-9a-f]{64}$/,
    );
    const { model, stream, ...body } = JSON.parse(String(first?.body)) as Record<string, unknown>;
    expect([model, stream]).toEqual([undefined, undefined]);
    expect(body).toMatchObject({ anthropic_version: '2026-10-21', max_tokens: 16000, tools: [{ name: 'read_file' }] });
    const sum = createHash('sha256')
      .update(second?.body ?? '')
      .digest('hex');
    expect(second?.headers['x-amz-content-sha256']).toBe(sum);
    expect(String(second?.body)).toContain('2512292042121000001');
    expect(String(second?.body)).not.toContain('"ttl"');
  });

  test('takes a Bedrock API key from the variable that the task names, and no key of another provider', async () => {
    const server = await startPlatformServer(() => asEventStream(EVENTS));
    const env = {
      ...AWS,
      MY_KEY: 'bedrock-api-key-0123456789',
      ANTHROPIC_API_KEY: 'sk-ant-not-for-aws',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
    };
    await ask(await client({ ...config, base_url: server.url, api_key_env: 'MY_KEY' }, env), REQUEST);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer bedrock-api-key-0123456789');
    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain('sk-ant');
  });

  test('fails by the service’s words and status', async () => {
    const body = JSON.stringify({ message: 'User is not authorized to perform bedrock:InvokeModel' });
    const headers = { 'content-type': 'application/json' };
    const server = await startPlatformServer(() => ({ status: 403, headers, body }));
    const failure = await fail(await client({ ...config, base_url: server.url }, AWS));
    expect(failure).toMatchObject({ kind: 'auth_error', status: 403 });
    expect(failure.message).toContain('not authorized to perform');
    expect(server.requests).toHaveLength(1);
  });

  test('is asked again after a throttled attempt', async () => {
    let tries = 0;
    const headers = { 'content-type': 'application/json' };
    const server = await startPlatformServer(() => {
      tries += 1;
      return tries === 1 ? { status: 429, headers, body: '{"message":"Too many requests"}' } : asEventStream(EVENTS);
    });
    await ask(await client({ ...config, base_url: server.url }, AWS), REQUEST);
    expect(server.requests.map(({ body }) => String(body))).toEqual(Array(2).fill(String(server.requests[0]?.body)));
  });

  test('is not asked without credentials', async () => {
    const server = await startPlatformServer(() => asEventStream(EVENTS));
    const home = { HOME: '/nonexistent', AWS_SHARED_CREDENTIALS_FILE: '/nonexistent', AWS_CONFIG_FILE: '/nonexistent' };
    const failure = await fail(await client({ ...config, base_url: server.url }, { ...NO_AWS, ...home }));
    expect(failure.kind).toBe('auth_error');
    expect(failure.message).toContain('Failed to resolve AWS credentials');
    expect(server.requests).toEqual([]);
  });

  test('is not asked again with a session token that no header can hold', async () => {
    const server = await startPlatformServer(() => asEventStream(EVENTS));
    const asked = await client({ ...config, base_url: server.url }, { ...AWS, AWS_SESSION_TOKEN: 'first\nsecond' });
    const hooks = recordHooks();
    const failure = await fail(asked, hooks);
    expect(failure.kind).toBe('auth_error');
    expect(failure.message).toContain('the credentials hold a line break');
    expect(failure.message).not.toContain('first');
    expect(hooks.attempts).toHaveLength(1);
    expect(server.requests).toEqual([]);
  });
});

describe('a model at Vertex', () => {
  const config = { id: 'claude-haiku-4-5@20251001', platform: 'vertex' as const };

  test('is asked in Vertex’s form, with the token of Google’s credentials', async () => {
    const server = await startPlatformServer(() => asSse(EVENTS));
    const google = {
      GCE_METADATA_HOST: server.url.slice('http://'.length),
      METADATA_SERVER_DETECTION: 'assume-present',
      GOOGLE_APPLICATION_CREDENTIALS: '',
    };
    const env = {
      ...google,
      CLOUD_ML_REGION: 'europe-west1',
      ANTHROPIC_VERTEX_PROJECT_ID: 'my-project',
      ANTHROPIC_API_KEY: 'sk-ant-not-for-google',
    };
    const reply = await ask(await client({ ...config, base_url: `${server.url}/v1` }, env), REQUEST);
    expect(reply).toMatchObject({
      stop_reason: 'tool_use',
      usage: { input_tokens: 30, output_tokens: 12 },
      cost_usd: null,
    });
    const [request] = server.requests;
    expect(request?.url).toBe(
      '/v1/projects/my-project/locations/europe-west1/publishers/anthropic/models/claude-haiku-4-5%4020251001:streamRawPredict',
    );
    expect(request?.headers.authorization).toBe('Bearer ya29.from-the-metadata-server');
    expect(JSON.stringify(request?.headers)).not.toContain('sk-ant');
    expect(JSON.parse(String(request?.body))).toMatchObject({ anthropic_version: '2026-10-21', stream: true });
    expect(String(request?.body)).not.toContain('"model"');
  });
});

test.each([
  [{ platform: 'bedrock' as const }, {}, 'set model.region in the task, or AWS_REGION'],
  [{ platform: 'vertex' as const }, {}, 'set model.region in the task, or CLOUD_ML_REGION'],
  [{ platform: 'bedrock' as const, region: 'evil.example/' }, {}, 'no region'],
  [{ platform: 'vertex' as const, region: 'global' }, {}, 'ANTHROPIC_VERTEX_PROJECT_ID'],
  [
    { platform: 'vertex' as const, region: 'global' },
    { ANTHROPIC_VERTEX_PROJECT_ID: '../x' },
    'ANTHROPIC_VERTEX_PROJECT_ID',
  ],
  [{ platform: 'vertex' as const, region: 'us', api_key_env: 'X' }, {}, 'takes Google credentials'],
  [{ platform: 'bedrock' as const, region: 'us-east-1', api_key_env: 'NOT_SET' }, {}, 'NOT_SET'],
])('%j with %j is refused before anything is sent', async (config, env, message) => {
  await expect(client({ id: 'x', ...config }, env)).rejects.toThrow(message);
});
