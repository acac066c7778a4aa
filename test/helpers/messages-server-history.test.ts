import { afterEach, describe, expect, test } from 'vitest';
import { post, readError, readEvents, request } from './messages-server/raw-client.ts';
import { reply } from './messages-server/reply.ts';
import { startMessagesServer } from './messages-server/server.ts';
import type { JsonRecord } from './messages-server/json-text.ts';
import type { MessagesServer, Reply, ServerOptions } from './messages-server/types.ts';

const open: MessagesServer[] = [];

async function start(replies: ServerOptions['replies'], options: ServerOptions = {}): Promise<MessagesServer> {
  const server = await startMessagesServer({ ...(replies === undefined ? {} : { replies }), ...options });
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(async (server) => server.close()));
});

/** 'accepted', or the message of the refusal. */
async function send(server: MessagesServer, body: JsonRecord | string): Promise<string> {
  const response = await post(server, body);
  if (response.status !== 200) return (await readError(response)).message;
  await readEvents(response);
  return 'accepted';
}

const user = (content: unknown): JsonRecord => ({ role: 'user', content });
const assistant = (...content: unknown[]): JsonRecord => ({ role: 'assistant', content });
const text = (value: string, more: JsonRecord = {}): JsonRecord => ({ type: 'text', text: value, ...more });
const call = (id: string, input: JsonRecord = {}): JsonRecord => ({ type: 'tool_use', id, name: 'bash', input });
const result = (id: string, content: unknown = 'ok'): JsonRecord => ({ type: 'tool_result', tool_use_id: id, content });
const talk = (...messages: unknown[]): JsonRecord => request({ messages });

describe('messages one by one', () => {
  const cases: [JsonRecord, string][] = [
    [talk(), 'at least one message is required'],
    [talk(assistant(text('a')), user('b')), 'first message must use the "user" role'],
    [talk(user('a'), assistant(text('b'))), 'does not support assistant message prefill'],
    [talk(user('')), 'messages.0: all messages must have non-empty content'],
    [talk(user([])), 'messages.0: all messages must have non-empty content'],
    [talk(user('a'), assistant(), user('b')), 'messages.1: all messages must have non-empty content'],
    [talk(user([text('')])), 'text content blocks must be non-empty'],
    [talk(user(' \n')), 'text content blocks must contain non-whitespace text'],
    [request({ messages: 'a' }), 'messages: Input should be a valid list'],
    [talk('a'), 'messages.0: Input should be a valid dictionary'],
    [talk(user([{ type: 'text', text: 1 }])), 'text.text: Input should be a valid string'],
    [talk(user(5)), 'messages.0.content: Input should be a valid string or list of blocks'],
    [talk(user('a'), { role: 'robot', content: 'b' }), "Input should be 'user' or 'assistant'"],
    [talk({ ...user('a'), name: 'x' }), 'messages.0.name: Extra inputs'],
    [talk(user([{ type: 'hologram' }])), "Input tag 'hologram'"],
    [talk(user([text('a', { mood: 'good' })])), 'messages.0.content.0.text.mood: Extra inputs'],
    [request({ system: '' }), 'system: text content blocks must be non-empty'],
    [request({ system: [{ type: 'image' }] }), 'system: Input should be a valid string'],
    [{ ...talk(user('a'), { role: 'system', content: 'b' }), model: 'claude-sonnet-5' }, 'messages.1.role'],
    [
      talk(user('a'), assistant(call('t1')), user('b')),
      '`tool_use` ids were found without `tool_result` blocks immediately after: t1',
    ],
    [talk(user('a'), assistant(call('t1')), user('b'), user([result('t1')])), 'ids were found without'],
    [talk(user([result('t1')])), 'unexpected `tool_use_id` found in `tool_result` blocks: t1'],
    [
      talk(user('a'), assistant(call('t1')), user([result('t1'), result('t1')])),
      'each tool_use must have a single result',
    ],
    [talk(user('a'), assistant(call('t1')), user([text('b'), result('t1')])), '`tool_result` blocks must come first'],
    [talk(user('a'), assistant(call('t1'), call('t1')), user([result('t1')])), '`tool_use` ids must be unique (t1)'],
    [
      talk(user('a'), assistant(call('t1')), user([result('t1')]), assistant(call('t1')), user([result('t1')])),
      'must be unique (t1)',
    ],
    [talk(user('a'), assistant(call('t 1')), user([result('t 1')])), 'tool_use.id: String should match pattern'],
    [
      talk(user('a'), assistant({ ...call('t1'), input: '{}' }), user([result('t1')])),
      'input: Input should be a valid dictionary',
    ],
    [
      talk(user('a'), assistant(call('t1')), user([result('t1', '')])),
      'tool_result.content: content must be non-empty',
    ],
    [talk(user('a'), assistant(call('t1')), user([result('t1', [text('\n')])])), 'must contain non-whitespace text'],
    [talk(user('a'), assistant(call('t1')), user([{ ...result('t1'), is_error: 'yes' }])), 'is_error'],
    [
      talk(
        user('a'),
        assistant({ ...call('s1'), type: 'server_tool_use' }, call('t1')),
        user([result('t1'), text('b')]),
      ),
      'only `tool_result` blocks may follow an unresolved server tool call',
    ],
    [
      talk(user('a'), assistant(call('t1')), user([result('t1', 5)])),
      'tool_result.content: Input should be a valid string or list',
    ],
    [talk(user('a'), assistant(call('t1')), user([result('t1', [{ type: 'tool_use' }])])), "Input tag 'tool_use'"],
    [talk(user('a'), assistant({ ...call('t1'), name: 'a b' }), user([result('t1')])), 'tool_use.name'],
  ];
  for (const [body, message] of cases) {
    test(`refuses with: ${message} (${JSON.stringify(body['messages']).slice(0, 90)})`, async () => {
      const server = await start(['never sent'], { foreign_history: true });
      expect(await send(server, body)).toContain(message);
      expect(server.failures).toHaveLength(1);
    });
  }

  test('accepts history of another server where the test allows it', async () => {
    const body = talk(user('a'), assistant(call('t1')), user([result('t1'), text('go on')]));
    expect(await send(await start(['x'], { foreign_history: true }), body)).toBe('accepted');
    expect(await send(await start(['x']), body)).toContain(
      'messages.1: no complete reply of this conversation belongs here',
    );
  });
});

describe('assistant content that comes back', () => {
  const content = [
    { type: 'thinking', thinking: 'let me see', signature: 'sig' },
    { type: 'text', text: '' },
    { type: 'text', text: 'Looking é😀', vendor: { b: 1, a: 2 } },
    {
      type: 'tool_use',
      id: 't1',
      name: 'bash',
      input_json: '{ "b": 1.0, "a": [12345678901234567890, 1e2], "b2": "\\u00e9" }',
    },
  ];
  const thinking = '{"type":"thinking","thinking":"let me see","signature":"sig"}';
  const said = '{"type":"text","text":"Looking é😀","vendor":{"b":1,"a":2}}';
  const called =
    '{"type":"tool_use","id":"t1","name":"bash","input":{"b":1.0,"a":[12345678901234567890,1e2],"b2":"é"}}';

  async function sendBack(spec: Reply, ...blocks: string[]): Promise<string> {
    const server = await start([spec, 'next']);
    expect(await send(server, talk(user('a')))).toBe('accepted');
    const answer = JSON.stringify(user([result('t1')]));
    const messages = `[${JSON.stringify(user('a'))}, {"role":"assistant","content":[${blocks.join(', ')}]}, ${answer}]`;
    return send(
      server,
      JSON.stringify(talk()).replace('[]', () => messages),
    );
  }

  test('is accepted as it was sent, without empty text blocks', async () => {
    expect(await sendBack(reply.message({ content }), thinking, said, called)).toBe('accepted');
  });

  test.each([
    ['a number is spelled differently', [thinking, said, called.replace('1.0', '1')]],
    ['a large number is rounded', [thinking, said, called.replace('12345678901234567890', '12345678901234567000')]],
    [
      'keys of the input change places',
      [
        thinking,
        said,
        called.replace('"b":1.0,"a":[12345678901234567890,1e2]', '"a":[12345678901234567890,1e2],"b":1.0'),
      ],
    ],
    ['a vendor field is lost', [thinking, said.replace(',"vendor":{"b":1,"a":2}', ''), called]],
    ['a text is edited', [thinking, said.replace('Looking', 'looking'), called]],
    ['a block is missing', [thinking, called]],
    ['a block is added', [thinking, said, called, '{"type":"text","text":"more"}']],
  ])('is refused when %s', async (_what, blocks) => {
    expect(await sendBack(reply.message({ content }), ...blocks)).toMatch(
      /messages\.1\.content\.\d: (differs from reply 1|`thinking`)/,
    );
  });

  test.each([
    ['is edited', [thinking.replace('see', 'look'), said, called]],
    ['is dropped', [said, called]],
    ['loses its signature', [thinking.replace(',"signature":"sig"', ''), said, called]],
    ['moves', [said, thinking, called]],
  ])('is refused when thinking %s', async (_what, blocks) => {
    expect(await sendBack(reply.message({ content }), ...blocks)).toContain(
      '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified',
    );
  });

  test('may hold any object where the streamed input was no JSON object', async () => {
    const broken = [{ type: 'tool_use', id: 't1', name: 'bash', input_json: '{"command":"ls' }];
    const put = '{"type":"tool_use","id":"t1","name":"bash","input":{"INVALID_JSON":"{\\"command\\":\\"ls"}}';
    expect(await sendBack(reply.message({ content: broken }), put)).toBe('accepted');
    expect(await sendBack(reply.message({ content: broken }), put.replace('"bash"', '"dash"'))).toContain(
      'differs from reply 1',
    );
  });

  test('is refused when the reply never was whole', async () => {
    expect(await sendBack(reply.cut({ content, after: 'message_delta' }), thinking, said, called)).toContain(
      'no complete reply',
    );
  });

  test('may be last only after pause_turn', async () => {
    const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } };
    const paused = await start([reply.message({ content: [search], stop_reason: 'pause_turn' }), 'done']);
    expect(await send(paused, talk(user('a')))).toBe('accepted');
    expect(await send(paused, talk(user('a'), assistant(search)))).toBe('accepted');
    const ended = await start(['b', 'c']);
    expect(await send(ended, talk(user('a')))).toBe('accepted');
    expect(await send(ended, talk(user('a'), assistant(text('b'))))).toContain('prefill');
  });
});
