import { expect, onTestFinished, test } from 'vitest';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import type { MessagesServer, Reply } from '../helpers/messages-server/types.ts';
import type { ImageBlock, Message } from '../../src/core/messages.ts';
import { anthropic, modelRequest, READ_FILE, recordHooks, user } from './setup.ts';

const image = (data: string): ImageBlock => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data },
});
const refused = reply.error(400, 'invalid_request_error', { message: 'Could not process image' });

/** An image, and two later ones. */
function history(): Message[] {
  return [
    { role: 'user', content: [{ type: 'text', text: 'go' }, image('AAAA')] },
    { role: 'user', content: [image('BBBB'), image('CCCC')] },
  ];
}

async function service(...replies: Reply[]): Promise<MessagesServer> {
  const server = await startMessagesServer({ tolerate: ['append_only'] }); // it counts what it refused as sent
  server.push(...replies);
  onTestFinished(() => server.close());
  return server;
}

/** The base64 of the images in each request, and how often words stand in place of one. */
function sent({ turns }: MessagesServer): string[] {
  return turns.map(({ body }) => {
    const text = JSON.stringify(body);
    const data = [...text.matchAll(/"data":"(\w+)"/g)].map(([, letters]) => letters);
    return `${data.join(' ')} ${text.match(/an image, which the service refused/g)?.length ?? 0}`;
  });
}

async function send(client: ReturnType<typeof anthropic>, messages: Message[]) {
  const hooks = recordHooks();
  const request = modelRequest(messages, { tools: [READ_FILE] });
  return { result: await client.send(request, hooks, new AbortController().signal), attempts: hooks.attempts };
}

test('images that the service refuses become words for good, the newest ones first', async () => {
  const server = await service(refused, reply.text('one'), reply.text('two'));
  const client = anthropic(server.url);
  const messages = history();
  const { result, attempts } = await send(client, messages);
  expect(result).toMatchObject({ ok: true });
  expect(attempts).toMatchObject([
    { status: 400, message: expect.stringContaining('Could not process image') as string },
  ]);
  await send(client, [...messages, { role: 'assistant', content: [{ type: 'text', text: 'one' }] }, user('and?')]);
  expect(sent(server)).toEqual(['AAAA BBBB CCCC 0', 'AAAA 2', 'AAAA 2']);
});

test('earlier ones go only when it still refuses, and without any left the refusal stands', async () => {
  const server = await service(refused, refused, refused, reply.text('never'));
  const { result } = await send(anthropic(server.url), history());
  expect(result).toMatchObject({ ok: false, kind: 'api_error', status: 400 });
  expect(sent(server)).toEqual(['AAAA BBBB CCCC 0', 'AAAA 2', ' 3']);
});

test('another refusal takes nothing out', async () => {
  const server = await service(reply.error(400, 'invalid_request_error', { message: 'max_tokens: too large' }));
  expect((await send(anthropic(server.url), history())).result).toMatchObject({ ok: false });
  expect(sent(server)).toEqual(['AAAA BBBB CCCC 0']);
});
