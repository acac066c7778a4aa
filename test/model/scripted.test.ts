import { describe, expect, test } from 'vitest';
import type { ScriptTurn } from '../../src/core/config.ts';
import { UsageError } from '../../src/core/errors.ts';
import type { Message } from '../../src/core/messages.ts';
import type { ModelClient } from '../../src/core/ports.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { createScriptClient } from '../../src/model/scripted.ts';
import type { ScriptDeps } from '../../src/model/scripted.ts';
import { answered, ask, fail, modelConfig, modelRequest, recordHooks, testClock, user } from './setup.ts';

function play(turns: unknown, deps: Partial<ScriptDeps> = {}): ModelClient {
  const config = modelConfig({ provider: 'script', id: 'script', script: { turns: turns as ScriptTurn[] } });
  return createScriptClient(config, {
    clock: testClock(),
    random: () => 0,
    max_retries: 3,
    deadline: () => 600_000,
    redact: (text) => text,
    ...deps,
  });
}

describe('a scripted turn', () => {
  test('is thinking, text and calls with fixed ids, and stops by what it holds', async () => {
    const client = play([
      {
        thinking: 'hm',
        text: 'two',
        tool_use: [
          { name: 'glob', input: { pattern: '*' } },
          { name: 'grep', id: 'own' },
        ],
      },
      { text: 'done' },
    ]);
    const hooks = recordHooks();
    const first = await ask(client, modelRequest(), hooks);
    expect(first).toMatchObject({
      stop_reason: 'tool_use',
      message_id: 'msg_script_001',
      model: 'script',
      cost_usd: null,
    });
    expect(first.content).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'script' },
      { type: 'text', text: 'two' },
      { type: 'tool_use', id: 'toolu_script_001_1', name: 'glob', input_json: '{"pattern":"*"}' },
      { type: 'tool_use', id: 'own', name: 'grep', input_json: '{}' },
    ]);
    expect(hooks.blocks).toEqual(first.content.slice(2));
    expect(await ask(client, modelRequest())).toMatchObject({ stop_reason: 'end_turn' });
  });

  test('counts the usage it says, and ten and five tokens when it says none', async () => {
    const usage = {
      input_tokens: 7,
      cache_read_input_tokens: 3,
      output_tokens: 2,
      output_tokens_details: { thinking_tokens: 1 },
    };
    const client = play([{ text: 'a' }, { text: 'b', usage }]);
    expect((await ask(client, modelRequest())).usage).toEqual({ ...NO_USAGE, input_tokens: 10, output_tokens: 5 });
    const second = { ...NO_USAGE, input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 2, thinking_tokens: 1 };
    expect((await ask(client, modelRequest())).usage).toEqual(second);
  });

  test('may be cut, refuse, hold broken input, or stop for a reason nobody knows', async () => {
    const client = play([
      { text: 'half', stop_reason: 'max_tokens', tool_use: [{ name: 'bash', input_json: '{"command": "l' }] },
      { stop_reason: 'refusal' },
      { stop_reason: 'tired' },
    ]);
    const first = await ask(client, modelRequest());
    expect(first).toMatchObject({ stop_reason: 'max_tokens', content: [{}, { input_json: '{"command": "l' }] });
    expect(await ask(client, modelRequest())).toMatchObject({ stop_reason: 'refusal', content: [] });
    expect(await ask(client, modelRequest())).toMatchObject({ stop_reason: 'unknown', stop_reason_raw: 'tired' });
  });

  test('waits as long as it says', async () => {
    const clock = testClock();
    expect(await ask(play([{ text: 'late', delay_ms: 1500 }], { clock }), modelRequest())).toMatchObject({
      duration_ms: 1500,
    });
    expect(clock.slept).toEqual([1500]);
  });

  test('is redacted like a reply from outside', async () => {
    const redact = (text: string) => text.replaceAll('hush', '***');
    const client = play([{ text: 'hush', tool_use: [{ name: 'bash', input: { command: 'hush "now"' } }] }], { redact });
    expect((await ask(client, modelRequest())).content).toMatchObject([
      { text: '***' },
      { input_json: '{"command":"*** \\"now\\""}' },
    ]);
  });

  test('that asks for too much ends the run, naming the turn', async () => {
    const client = play([{ text: 'only' }]);
    await ask(client, modelRequest());
    expect(await fail(client)).toMatchObject({
      kind: 'api_error',
      message: 'the script has 1 turn, and turn 2 was asked: add one to model.script',
    });
  });
});

describe('a scripted error', () => {
  test('is an attempt that is made again under the ordinary rules', async () => {
    const clock = testClock();
    const hooks = recordHooks();
    const client = play(
      [{ error: { status: 529 } }, { error: { status: 429, headers: { 'retry-after': '3' } } }, { text: 'at last' }],
      { clock },
    );
    expect(await ask(client, modelRequest(), hooks)).toMatchObject({ message_id: 'msg_script_003' });
    expect(clock.slept).toEqual([500, 3000]);
    expect(hooks.attempts).toMatchObject([
      { status: 529, error_type: 'overloaded_error' },
      { status: 429, error_type: 'rate_limit_error', wait_ms: 3000 },
    ]);
  });

  test('that waiting cannot cure ends the turn', async () => {
    expect(await fail(play([{ error: { status: 401, message: 'bad key' } }]))).toMatchObject({
      kind: 'auth_error',
      status: 401,
    });
  });
});

describe('an expectation', () => {
  const history = async (client: ModelClient, result: string): Promise<Message[]> => {
    const first = await ask(client, modelRequest());
    return [user('hello'), ...answered(first, result)];
  };
  const turns = [{ tool_use: [{ name: 'bash', input: {} }] }, { expect: ['1 passed', '0 failed'], text: 'good' }];

  test('holds when the last tool results contain every text', async () => {
    const client = play(turns);
    const messages = await history(client, 'ran: 1 passed, 0 failed');
    expect(await ask(client, modelRequest(messages))).toMatchObject({ stop_reason: 'end_turn' });
  });

  test('that fails ends the run, naming the turn and both texts', async () => {
    const client = play(turns);
    const messages = await history(client, 'denied: not allowed');
    const result = await client.send(modelRequest(messages), recordHooks(), new AbortController().signal);
    expect(result).toMatchObject({ ok: false, kind: 'api_error' });
    expect(result).toHaveProperty(
      'message',
      'turn 2 of the script expects "1 passed" in the last tool results; they are "denied: not allowed"',
    );
  });

  test('without any tool result fails', async () => {
    expect((await fail(play([{ expect: 'x', text: 'y' }]))).message).toContain('there are none');
  });
});

test('a script goes on where the history of a resumed run stops', async () => {
  const client = play([{ text: 'one' }, { error: { status: 529 } }, { text: 'two' }, { text: 'three' }]);
  const messages: Message[] = [
    user('hello'),
    { role: 'assistant', content: [] },
    user('on'),
    { role: 'assistant', content: [] },
    user('on'),
  ];
  expect((await ask(client, modelRequest(messages))).content).toEqual([{ type: 'text', text: 'three' }]);
});

test.each([
  ['turns', { length: 1 }, '/turns', 'a list of turns'],
  ['a turn', ['text'], '/turns/0', 'expected an object, found "text"'],
  ['an unknown field', [{ txt: 'a' }], '/turns/0/txt', 'unknown field; known are text'],
  ['a text', [{ text: 1 }], '/turns/0/text', 'expected a text, found 1'],
  ['a call without a name', [{ tool_use: [{ input: {} }] }], '/turns/0/tool_use/0', 'needs a "name"'],
  ['two inputs', [{ tool_use: [{ name: 'a', input: 1, input_json: '' }] }], '/turns/0/tool_use/0', 'not both'],
  ['a status', [{ error: { status: 'x' } }], '/turns/0/error/status', 'an HTTP status'],
  ['an error with text', [{ error: {}, text: 'a' }], '/turns/0', 'no "text"'],
  ['a wait', [{ delay_ms: -1 }], '/turns/0/delay_ms', '0 or more'],
])('a script with a wrong %s is refused with file and place', (_what, turns, pointer, message) => {
  const make = () => play(turns, { script_place: { file: 'script.json', pointer: '' } });
  expect(make).toThrow(UsageError);
  expect(make).toThrow(message);
  expect(make).toThrow(`script.json (${pointer})`);
});
