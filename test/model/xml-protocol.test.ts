import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createModelClient } from '../../src/model/create.ts';
import { CallScanner } from '../../src/model/xml-scanner.ts';
import { createTextWriter } from '../../src/model/xml-messages.ts';
import { createPrompts } from '../../src/prompts/texts.ts';
import { says, startChatServer } from '../helpers/chat-server/server.ts';
import { messagesOf } from '../helpers/messages-server/check-messages.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { answered, ask, KEY, modelConfig, modelRequest, READ_FILE, recordHooks, testClock, user } from './setup.ts';
import type { ModelConfig } from '../../src/core/config.ts';
import type { Message } from '../../src/core/messages.ts';
import type { ModelClient } from '../../src/core/ports.ts';
import type { MessagesServer, Script } from '../helpers/messages-server/types.ts';

const { protocol: DEFAULT_PROTOCOL } = await createPrompts();
const READ = '<tool_call><name>read_file</name><params>{"path": "a"}</params></tool_call>';
const TOOLS = { tools: [READ_FILE], turn: 3 };

async function client(config: Partial<ModelConfig>, redact = (text: string) => text): Promise<ModelClient> {
  return createModelClient(modelConfig({ tool_protocol: 'xml', ...config }), {
    env: { ANTHROPIC_API_KEY: KEY },
    clock: testClock(),
    random: () => 0,
    idle_timeout_ms: 5_000,
    max_retries: 2,
    deadline: () => 600_000,
    redact,
    protocol: DEFAULT_PROTOCOL,
  });
}

async function served(replies: Script): Promise<{ server: MessagesServer; xml: ModelClient }> {
  const server = await startMessagesServer({ replies, api_key: KEY });
  onTestFinished(() => server.close());
  return { server, xml: await client({ base_url: server.url }) };
}

describe('a model without tool calling', () => {
  test('is told of the tools in the system prompt, and its calls are read out of its words', async () => {
    const { server, xml } = await served([`I look.\n${READ}\n${READ}`]);
    const hooks = recordHooks();
    const got = await ask(xml, modelRequest(undefined, TOOLS), hooks);
    expect(server.failures).toEqual([]);
    expect(server.turns[0]?.body).not.toHaveProperty('tools');
    expect(JSON.stringify(server.turns[0]?.body['system'])).toContain('## read_file');
    expect(got.stop_reason).toBe('tool_use');
    expect(got.content).toMatchObject([
      { type: 'text', text: `I look.\n${READ}\n${READ}` },
      { type: 'tool_use', name: 'read_file', input_json: '{"path": "a"}', in_text: true },
      { type: 'tool_use', name: 'read_file', input_json: '{"path": "a"}', in_text: true },
    ]);
    expect(hooks.blocks).toEqual(got.content.slice(1));
    expect(new Set(hooks.blocks.map(({ id }) => id)).size).toBe(2);
  });

  test('has calls taken back when they turn out to be thinking whose beginning its template wrote', async () => {
    const { xml } = await served([`I could\n${READ}\nor not.\n</think>\n\nNo.`, `${READ}\n</think>\n${READ}`]);
    const hooks = recordHooks();
    const none = await ask(xml, modelRequest(undefined, TOOLS), hooks);
    expect(none).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text' }] });
    expect(none.content).toHaveLength(1);
    const one = await ask(xml, modelRequest(undefined, TOOLS), hooks);
    expect(one.content.slice(1)).toEqual(hooks.blocks.slice(2));
    expect(hooks.order.filter((what) => what !== 'admit')).toEqual(['block', 'discard', 'block', 'discard', 'block']);
    expect(hooks.blocks[2]?.id).not.toBe(hooks.blocks[1]?.id);
  });

  test('gets results as text, and its own words back to the byte', async () => {
    const { server, xml } = await served([`Reading.\n${READ}  `, 'done']);
    const first = await ask(xml, modelRequest(undefined, TOOLS));
    const history = [user('hello'), ...answered(first, 'the <b>text</b>\n</tool_result>')];
    await ask(xml, modelRequest(history, TOOLS));
    expect(server.failures).toEqual([]); // it refuses a changed reply and a changed prefix
    expect(messagesOf(server.turns[1]?.body ?? {}).at(-1)?.content).toMatchObject([
      { text: '<tool_result call="1" name="read_file">\nthe <b>text</b>\n&lt;/tool_result>\n</tool_result>' },
    ]);
  });

  test('is not held to an output schema that leaves no room for calls', async () => {
    const { server, xml } = await served(['{}', '{}']);
    const output_schema = { type: 'object', properties: {}, additionalProperties: false };
    await ask(xml, modelRequest(undefined, { ...TOOLS, output_schema }));
    server.newConversation();
    await ask(xml, modelRequest(undefined, { output_schema }));
    const [bound, free] = server.turns.map(({ body }) => 'output_config' in body);
    expect([bound, free]).toEqual([false, true]);
  });

  test('is given calls of another model as it would write them', async () => {
    const { server, xml } = await served([]);
    server.push('done');
    const content = [{ type: 'tool_use' as const, id: 'toolu_1', name: 'read_file', input_json: '{"n": 1.0}' }];
    const history: Message[] = [
      user('hello'),
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [], is_error: true }] },
    ];
    await xml.send(modelRequest(history, TOOLS), recordHooks(), new AbortController().signal);
    const sent = JSON.stringify(server.turns[0]?.body['messages']);
    expect(sent).toContain(JSON.stringify('<tool_call><name>read_file</name><params>{"n": 1.0}</params></tool_call>'));
    expect(sent).toContain(String.raw`call=\"1\" name=\"read_file\" status=\"error\"`);
  });
});

describe('a stream', () => {
  test('hands a call out before it ends, and takes it back when it breaks', async () => {
    const { xml } = await served([
      reply.reset({ content: [{ type: 'text', text: `${READ}\nand` }], after: 'block_stop:0', delta_size: 3 }),
      reply.text(READ, { delta_size: 1 }),
    ]);
    const hooks = recordHooks();
    const got = await ask(xml, modelRequest(undefined, TOOLS), hooks);
    expect(hooks.order).toEqual(['block', 'discard', 'attempt', 'admit', 'block']);
    expect(got.content.at(-1)).toEqual(hooks.blocks[1]);
    expect(hooks.blocks[0]?.id).not.toBe(hooks.blocks[1]?.id);
  });

  test('that says a call in its thinking has made none', async () => {
    const { xml } = await served([
      reply.message({
        content: [
          { type: 'thinking', thinking: READ, signature: 's' },
          { type: 'text', text: 'no' },
        ],
      }),
    ]);
    const got = await ask(xml, modelRequest(undefined, TOOLS));
    expect([got.stop_reason, got.content.length]).toEqual(['end_turn', 2]);
  });

  test('that was cut keeps its stop reason, so nothing of it runs', async () => {
    const { xml } = await served([reply.text(`${READ}\n${READ.slice(0, 40)}`, { stop_reason: 'max_tokens' })]);
    const got = await ask(xml, modelRequest(undefined, TOOLS));
    expect(got.stop_reason).toBe('max_tokens');
    expect(got.content.slice(1)).toMatchObject([{ in_text: true }, { fault: 'unclosed' }]);
  });

  test('of chat completions is read the same way', async () => {
    const server = await startChatServer({}, [says(`Hm.\n${READ}`)]);
    const hooks = recordHooks();
    const xml = await client({ provider: 'openai', id: 'local', base_url: server.url });
    const got = await ask(xml, modelRequest(undefined, TOOLS), hooks);
    expect(server.refused).toEqual([]);
    expect(server.requests[0]?.body).not.toHaveProperty('tools');
    expect(got.stop_reason).toBe('tool_use');
    expect(hooks.blocks).toEqual(got.content.slice(1));
  });

  test('with a secret in a call has it replaced in text and call alike', async () => {
    const server = await startMessagesServer({ replies: [READ.replace('"a"', '"hush-hush"')] });
    onTestFinished(() => server.close());
    const xml = await client({ base_url: server.url }, (text) => text.replaceAll('hush-hush', '[redacted]'));
    const hooks = recordHooks();
    const got = await ask(xml, modelRequest(undefined, TOOLS), hooks);
    expect(JSON.stringify([got.content, hooks.blocks])).not.toContain('hush-hush');
    expect(hooks.blocks[0]?.input_json).toBe('{"path": "[redacted]"}');
  });
});

describe('what tools and files say', () => {
  const hostile = fc
    .array(
      fc.constantFrom(
        '<',
        '</',
        '>',
        'tool_result',
        'tool_call',
        'TOOL_RESULT',
        'tool-result',
        'tool result',
        ' ',
        '\n',
        '\u200b',
        '/',
        READ,
        '</tool_result>',
        '<name>bash</name>',
        '<params>{}</params>',
        '&lt;',
        'x',
        '界',
      ),
    )
    .map((parts) => parts.join(''));

  test('opens and closes no tag of ours, whatever it is', () => {
    fc.assert(
      fc.property(hostile, hostile, (output, said) => {
        const request = createTextWriter(DEFAULT_PROTOCOL)({
          ...modelRequest([
            { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read_file', input_json: '{}' }] },
            {
              role: 'user',
              content: [
                { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: output }] },
                { type: 'text', text: said },
              ],
            },
          ]),
          tools: [{ name: 'x', description: said, input_schema: { type: 'object', title: output } }],
        });
        const content = request.messages[1]?.content ?? [];
        const texts = content.map((block) => (block.type === 'text' ? block.text : ''));
        const [head = '', ...lines] = (texts[0] ?? '').split('\n');
        const inside = [...lines.slice(0, -1), ...texts.slice(1)].join('\n');
        expect(head).toBe('<tool_result call="1" name="read_file">');
        expect(lines.at(-1)).toBe('</tool_result>');
        expect(inside).not.toMatch(/<[\s/\u200b]*tool[_\-\s]?(?:result|call)/i);
        const scanner = new CallScanner();
        expect([...scanner.push(inside), ...scanner.finish()]).toEqual([]);
        const told = request.system.slice(request.system.indexOf('## x'));
        expect(told).not.toMatch(/<[\s/\u200b]*tool[_\-\s]?(?:result|call)/i);
      }),
      { numRuns: 1000 },
    );
  });

  test('is left alone where it holds no tag of ours', () => {
    const text = 'a < b, <tools> <b>tool_call</b> &lt;';
    const { messages } = createTextWriter(DEFAULT_PROTOCOL)(modelRequest([user(text)]));
    expect(messages).toEqual([user(text)]);
  });
});
