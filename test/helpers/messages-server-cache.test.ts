import { afterEach, expect, test } from 'vitest';
import { gate, reply } from './messages-server/reply.ts';
import { isRecord } from './messages-server/json-text.ts';
import { post, readEvents, request } from './messages-server/raw-client.ts';
import { startMessagesServer } from './messages-server/server.ts';
import type { JsonRecord } from './messages-server/json-text.ts';
import type { MessagesServer, ServerOptions } from './messages-server/types.ts';

const open: MessagesServer[] = [];

async function start(options: ServerOptions = {}): Promise<MessagesServer> {
  const tolerate: ServerOptions['tolerate'] = ['append_only'];
  const server = await startMessagesServer({ replies: () => 'ok', simulate_cache: true, tolerate, ...options });
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(async (server) => server.close()));
});

/** Input, written 5m, written 1h and read tokens of one request. */
async function cost(server: MessagesServer, body: JsonRecord): Promise<[number, number, number, number]> {
  const events = await readEvents(await post(server, body));
  const message = events[0]?.data['message'];
  const usage = isRecord(message) && isRecord(message['usage']) ? message['usage'] : {};
  const split = isRecord(usage['cache_creation']) ? usage['cache_creation'] : {};
  const fields = [
    usage['input_tokens'],
    split['ephemeral_5m_input_tokens'],
    split['ephemeral_1h_input_tokens'],
    usage['cache_read_input_tokens'],
  ];
  const [input = 0, short = 0, long = 0, read = 0] = fields.map(Number);
  expect(usage['cache_creation_input_tokens']).toBe(short + long);
  return [input, short, long, read];
}

const mark = { cache_control: { type: 'ephemeral' } };
const longMark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
// A text block of exactly 1000 tokens: 4000 bytes with its JSON around it.
const block = (letter: string, more: JsonRecord = {}): JsonRecord => {
  const bare = JSON.stringify({ type: 'text', text: '' }).length;
  return { type: 'text', text: letter.repeat(4000 - bare), ...more };
};
const ask = (...content: JsonRecord[]): JsonRecord => request({ messages: [{ role: 'user', content }] });

test('without a mark nothing is cached', async () => {
  const server = await start();
  expect(await cost(server, ask(block('a')))).toEqual([1000, 0, 0, 0]);
  expect(await cost(server, ask(block('a')))).toEqual([1000, 0, 0, 0]);
});

test('a marked prefix is written once and read afterwards, also when the mark moves on', async () => {
  const server = await start();
  expect(await cost(server, ask(block('a', mark), block('b')))).toEqual([1000, 1000, 0, 0]);
  expect(await cost(server, ask(block('a'), block('b', mark)))).toEqual([0, 1000, 0, 1000]);
  expect(await cost(server, { ...ask(block('a'), block('b'), block('c')), ...mark })).toEqual([0, 1000, 0, 2000]);
  expect(await cost(server, { ...ask(block('z'), block('b')), ...mark })).toEqual([0, 2000, 0, 0]);
});

test('an hour and five minutes are written apart and last that long', async () => {
  let now = 0;
  const server = await start({ now: () => now });
  const body = { ...ask(block('b')), system: [block('a', longMark)], ...mark };
  expect(await cost(server, body)).toEqual([0, 1000, 1000, 0]);
  now += 4 * 60_000;
  expect(await cost(server, body)).toEqual([0, 0, 0, 2000]);
  now += 4 * 60_000; // a hit renewed it
  expect(await cost(server, body)).toEqual([0, 0, 0, 2000]);
  now += 6 * 60_000;
  expect(await cost(server, body)).toEqual([0, 1000, 0, 1000]);
});

test('an entry is found up to twenty blocks before a mark and not further', async () => {
  const server = await start();
  const blocks = (count: number): JsonRecord[] => Array.from({ length: count }, () => block('a'));
  expect(await cost(server, { ...ask(...blocks(1)), ...mark })).toEqual([0, 1000, 0, 0]);
  expect(await cost(server, { ...ask(...blocks(22)), ...mark })).toEqual([0, 22_000, 0, 0]);
  expect(await cost(server, { ...ask(...blocks(42)), ...mark })).toEqual([0, 20_000, 0, 22_000]);
});

test('short prefixes, other models and other thinking settings do not share an entry', async () => {
  const server = await start({ cache_minimum_tokens: 1500 });
  expect(await cost(server, ask(block('a', mark)))).toEqual([1000, 0, 0, 0]);
  const body = { ...ask(block('c')), system: [block('a'), block('b', mark)], ...mark };
  expect(await cost(server, body)).toEqual([0, 3000, 0, 0]);
  expect(await cost(server, { ...body, thinking: { type: 'adaptive' } })).toEqual([0, 1000, 0, 2000]);
  expect(await cost(server, { ...body, model: 'claude-opus-5-5' })).toEqual([0, 3000, 0, 0]);
});

test('an entry can be read only once the response that wrote it has begun', async () => {
  const held = gate();
  const replies = [reply.text('a', { pause: { after: 'request', until: held } }), 'b', 'c'];
  const server = await start({ replies });
  const body = { ...ask(block('a')), ...mark };
  const first = cost(server, body);
  await held.reached;
  expect(await cost(server, body)).toEqual([0, 1000, 0, 0]);
  held.release();
  expect(await first).toEqual([0, 1000, 0, 0]);
  expect(await cost(server, body)).toEqual([0, 0, 0, 1000]);
});

test('a scripted figure wins over the simulated one', async () => {
  const server = await start({ replies: [reply.text('a', { usage: { input_tokens: 7 } })] });
  expect(await cost(server, { ...ask(block('a')), ...mark })).toEqual([7, 1000, 0, 0]);
});
