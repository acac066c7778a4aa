import { afterEach, describe, expect, test } from 'vitest';
import { post, readError, readEvents, request } from './messages-server/raw-client.ts';
import { startMessagesServer } from './messages-server/server.ts';
import type { JsonRecord } from './messages-server/json-text.ts';
import type { MessagesServer, ServerOptions } from './messages-server/types.ts';

const open: MessagesServer[] = [];

async function start(options: ServerOptions = {}): Promise<MessagesServer> {
  const server = await startMessagesServer({ replies: () => 'ok', ...options });
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(async (server) => server.close()));
});

async function refusal(
  body: JsonRecord | string | Uint8Array<ArrayBuffer>,
  options: ServerOptions = {},
): Promise<string> {
  const server = await start(options);
  const response = await post(server, body);
  if (response.status === 200) return 'accepted';
  const { type, message } = await readError(response);
  expect(server.failures).toHaveLength(1);
  expect(server.failures[0]).toContain(message);
  return `${response.status} ${type}: ${message}`;
}

function refuses(cases: [JsonRecord, string][]): void {
  for (const [body, message] of cases) {
    test(`refuses with: ${message}`, async () => {
      expect(await refusal(body)).toContain(message);
    });
  }
}

const user = (content: unknown): JsonRecord => ({ role: 'user', content });
const text = (value: string, more: JsonRecord = {}): JsonRecord => ({ type: 'text', text: value, ...more });
const tool = (more: JsonRecord = {}): JsonRecord => ({ name: 'bash', input_schema: { type: 'object' }, ...more });
const withTools = (...tools: unknown[]): JsonRecord => request({ tools });
const withContent = (...content: unknown[]): JsonRecord => request({ messages: [user(content)] });
const format = (schema: unknown): JsonRecord => request({ output_config: { format: { type: 'json_schema', schema } } });
const mark = { cache_control: { type: 'ephemeral' } };
const longMark = { cache_control: { type: 'ephemeral', ttl: '1h' } };

test('a request that uses everything it may is accepted', async () => {
  const schema = {
    type: 'object',
    properties: { a: { type: ['string', 'null'], pattern: '^a+$' }, b: { $ref: '#/$defs/b' } },
    required: ['a'],
    additionalProperties: false,
    $defs: { b: { type: 'array', items: { anyOf: [{ const: 1 }, { enum: ['x'] }] }, minItems: 1 } },
  };
  const body = request({
    system: [text('Be brief.', longMark)],
    tools: [
      tool({ description: 'd', strict: false, eager_input_streaming: true }),
      { type: 'web_search_20260209', name: 'web_search' },
    ],
    tool_choice: { type: 'auto' },
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: 'medium', format: { type: 'json_schema', schema } },
    cache_control: { type: 'ephemeral' },
    diagnostics: { previous_message_id: null },
    metadata: { user_id: 'u' },
    stop_sequences: ['END'],
    messages: [
      user([text('Look'), { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }]),
      { role: 'system', content: 'Hurry.' },
    ],
  });
  expect(await refusal(body)).toBe('accepted');
});

describe('headers and encoding', () => {
  test('a key must be given, as a bearer unless the server says otherwise', async () => {
    const server = await start();
    const none = await post(server, request(), { authorization: null });
    expect([none.status, (await readError(none)).type]).toEqual([401, 'authentication_error']);
    expect((await post(server, request(), { authorization: 'Bearer ' })).status).toBe(401);
    expect((await post(server, request(), { authorization: null, 'x-api-key': 'k' })).status).toBe(401);
    expect(server.failures).toHaveLength(3);
    const keyed = await start({ auth: 'x-api-key', api_key: 'k' });
    expect((await post(keyed, request(), { 'x-api-key': 'k' })).status).toBe(200);
    expect((await post(keyed, request(), { 'x-api-key': 'other' })).status).toBe(401);
    const either = await start({ auth: 'either' });
    expect((await post(either, request(), { authorization: null, 'x-api-key': 'k' })).status).toBe(200);
  });

  test('the version must be given and known', async () => {
    const server = await start();
    const none = await post(server, request(), { 'anthropic-version': null });
    expect(await readError(none)).toMatchObject({ message: 'anthropic-version: header is required' });
    const odd = await post(server, request(), { 'anthropic-version': '2020-01-01' });
    expect((await readError(odd)).message).toContain('"2020-01-01" is not a valid version');
  });

  test('the same headers are needed to ask for a model', async () => {
    const server = await start();
    expect((await fetch(`${server.url}/v1/models/claude-sonnet-5-5`)).status).toBe(401);
    expect(server.failures).toHaveLength(1);
  });

  test('the body must be JSON, UTF-8, without lone surrogates, and at most 32 MB', async () => {
    expect(await refusal('{"model":')).toContain('400 invalid_request_error: The request body is not valid JSON');
    expect(await refusal('[]')).toContain('valid dictionary');
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
    expect(await refusal(new Uint8Array(bytes))).toContain('not well-formed UTF-8');
    expect(await refusal(withContent(text('half \ud83d of it')))).toContain(
      'no low surrogate in string: messages.0.content.0.text',
    );
    expect(await refusal(request({ metadata: { 'k\udc00': 1 } }))).toContain('no low surrogate in string: metadata.k');
    expect(await refusal(withContent(text('x'.repeat(33 * 1024 * 1024))))).toBe(
      '413 request_too_large: Request exceeds the maximum size',
    );
  });
});

describe('top-level fields', () => {
  const without = (name: string): JsonRecord =>
    Object.fromEntries(Object.entries(request()).filter(([key]) => key !== name));
  refuses([
    [request({ foo: 1 }), 'foo: Extra inputs are not permitted'],
    [request({ context_management: {} }), 'context_management: Extra inputs are not permitted'],
    [without('model'), 'model: Field required'],
    [without('max_tokens'), 'max_tokens: Field required'],
    [without('messages'), 'messages: Field required'],
    [request({ model: 'claude-nope' }), '404 not_found_error: model: claude-nope'],
    [request({ max_tokens: 0 }), 'greater than or equal to 1'],
    [request({ max_tokens: 1.5 }), 'valid integer'],
    [
      request({ max_tokens: 128_001 }),
      '128001 > 128000, which is the maximum allowed number of output tokens for claude-sonnet-5-5',
    ],
    [request({ temperature: 1 }), '`temperature` is deprecated'],
    [request({ top_p: 1 }), '`top_p` is deprecated'],
    [request({ top_k: 1 }), '`top_k` is deprecated'],
    [request({ thinking: { type: 'disabled' } }), 'thinking.type: "disabled" is not supported'],
    [
      request({ thinking: { type: 'between_tools' }, output_config: { effort: 'max' } }),
      'not supported at this effort',
    ],
    [
      request({ model: 'claude-haiku-4-5', thinking: { type: 'enabled', budget_tokens: 500 } }),
      'greater than or equal to 1024',
    ],
    [
      request({ model: 'claude-haiku-4-5', thinking: { type: 'enabled', budget_tokens: 2000 } }),
      '`max_tokens` must be greater',
    ],
    [request({ output_config: { effort: 'extreme' } }), 'output_config.effort'],
    [request({ tools: [tool()], tool_choice: { type: 'any' } }), 'forced tool use'],
    [request({ tools: [tool()], tool_choice: { type: 'tool', name: 'bash' } }), 'forced tool use'],
    [request({ tools: [tool()], tool_choice: 'auto' }), 'tool_choice.type'],
    [request({ tool_choice: { type: 'auto' } }), 'only be specified while providing tools'],
    [request({ model: '' }), 'model: Input should be a valid string'],
    [request({ thinking: 'on' }), 'thinking.type'],
    [request({ stream: 'yes' }), 'stream: Input should be a valid boolean'],
    [request({ stop_sequences: [' '] }), 'stop_sequences'],
  ]);

  test('a beta field is accepted with its beta header', async () => {
    const server = await start();
    const body = request({ context_management: { edits: [] } });
    expect((await post(server, body, { 'anthropic-beta': 'a,context-management-2025-06-27' })).status).toBe(200);
  });

  test('counting has fewer fields', async () => {
    const server = await start();
    const { model, messages } = request();
    const path = '/v1/messages/count_tokens';
    expect(await (await post(server, { model, messages }, {}, path)).json()).toEqual({ input_tokens: 8 });
    expect((await readError(await post(server, request(), {}, path))).message).toContain('Extra inputs');
  });

  test('a prompt above the context of the model is too long', async () => {
    const body = withContent(text('x'.repeat(1000)));
    const models = { 'claude-sonnet-5-5': { max_input_tokens: 200 } };
    expect(await refusal(body, { models })).toMatch(/prompt is too long: \d+ tokens > 200 maximum/);
  });
});

describe('tools and schemas', () => {
  const twenty = Array.from({ length: 21 }, (_, n) => {
    return tool({ name: `t${n}`, strict: true, input_schema: { type: 'object', additionalProperties: false } });
  });
  refuses([
    [request({ tools: {} }), 'tools: Input should be a valid list'],
    [withTools('bash'), 'tools.0: Input should be a valid dictionary'],
    [withTools(tool({ description: 1 })), 'tools.0.custom.description'],
    [withTools(tool(), tool()), 'Tool names must be unique'],
    [withTools(tool({ name: 'a.b' })), "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"],
    [withTools(tool({ name: 'x'.repeat(129) })), 'tools.0.custom.name'],
    [withTools({ name: 'bash' }), 'tools.0.custom.input_schema: Field required'],
    [withTools(tool({ input_schema: {} })), 'tools.0.custom.input_schema.type'],
    [withTools(tool({ input_schema: { type: 'object', oneOf: [{}] } })), 'does not support oneOf'],
    [withTools(tool({ input_schema: { type: 'object', anyOf: [{}] } })), 'does not support oneOf'],
    [withTools(tool({ input_schema: { type: 'object', allOf: [{}] } })), 'does not support oneOf'],
    [withTools(tool({ input_schema: { type: 'object', properties: { 'a b': {} } } })), 'Property keys should match'],
    [withTools(tool({ input_schema: { type: 'object', properties: { a: { type: 'text' } } } })), 'draft 2020-12'],
    [withTools(tool({ effect: 'read' })), 'tools.0.custom.effect: Extra inputs'],
    [withTools(tool({ type: 'teleport_20990101' })), "Input tag 'teleport_20990101'"],
    [withTools(tool({ strict: true, input_schema: { type: 'object' } })), 'must be explicitly set to false'],
    [withTools(...twenty), 'too complex'],
    [format({ type: 'object' }), 'must be explicitly set to false'],
    [format({ type: 'number', minimum: 1 }), "property 'minimum' is not supported"],
    [format({ type: 'string', maxLength: 1 }), "property 'maxLength' is not supported"],
    [format({ type: 'array', maxItems: 1 }), "property 'maxItems' is not supported"],
    [format({ type: 'array', minItems: 2 }), 'minItems values other than 0 or 1'],
    [format(true), 'output_config.format.schema: Input should be a valid dictionary'],
    [format({ type: 'array', items: true }), 'boolean schemas are not supported'],
    [format({ enum: [{}] }), 'enum values must not be objects'],
    [format({ oneOf: [{ type: 'string' }] }), "property 'oneOf' is not supported"],
    [format({ type: 'string', pattern: 'a(?=b)' }), 'lookaround'],
    [format({ type: 'string', pattern: '(a)\\1' }), 'backreferences'],
    [format({ type: 'string', format: 'iri' }), "format 'iri' is not supported"],
    [format({ $ref: 'https://example.com/s.json' }), 'external $ref'],
    [format({ $defs: { a: { type: 'string' } }, allOf: [{ $ref: '#/$defs/a' }] }), 'allOf with $ref'],
    [format({ $defs: { a: { type: 'array', items: { $ref: '#/$defs/a' } } }, $ref: '#/$defs/a' }), 'Recursive schemas'],
    [request({ output_config: { format: { type: 'xml' } } }), "Input should be 'json_schema'"],
  ]);
});

describe('cache marks', () => {
  refuses([
    [
      withContent(...['a', 'b', 'c', 'd', 'e'].map((part) => text(part, mark))),
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
    [{ ...withContent(...['a', 'b', 'c', 'd'].map((part) => text(part, mark))), ...mark }, 'Found 5.'],
    [withContent(text('a', { cache_control: { type: 'forever' } })), "cache_control.type: Input should be 'ephemeral'"],
    [withContent(text('a', { cache_control: { type: 'ephemeral', ttl: '2h' } })), 'cache_control.ephemeral.ttl'],
    [withContent(text('a', mark), text('b', longMark)), "a ttl='1h' cache_control block must not come after"],
    [{ ...withContent(text('a', longMark)), ...mark }, 'another ttl'],
  ]);

  test('neither empty text nor thinking can carry one', async () => {
    const options: ServerOptions = { tolerate: ['empty'] };
    expect(await refusal(withContent(text(' ', mark)), options)).toContain(
      'cache_control cannot be set for empty text blocks',
    );
    const thinking = { role: 'assistant', content: [{ type: 'thinking', thinking: '', signature: 's', ...mark }] };
    expect(await refusal(request({ messages: [user('a'), thinking, user('b')] }), { foreign_history: true })).toContain(
      'thinking.cache_control',
    );
  });
});

test('a rule can be tolerated', async () => {
  const server = await start({ tolerate: ['sampling'] });
  const response = await post(server, request({ temperature: 0 }));
  expect((await readEvents(response)).length).toBeGreaterThan(0);
  expect(server.failures).toEqual([]);
});

test.each([
  [{ name: 'search' }, 'name'],
  [{ citations: { enabled: true } }, 'citations'],
  [{ allowed_domains: ['a.example'], blocked_domains: ['b.example'] }, 'Only one of'],
  [{ allowed_domains: [] }, 'not empty'],
  [{ allowed_domains: ['https://a.example'] }, 'not a valid domain'],
  [{ max_uses: 0 }, 'max_uses'],
])('a web search with %j is refused', async (change, message) => {
  const tools = [{ type: 'web_search_20250305', name: 'web_search', ...change }];
  expect(await refusal(request({ tools }))).toContain(message);
});
