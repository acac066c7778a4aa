import { expect, onTestFinished } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { messagesOf } from '../helpers/messages-server/check-messages.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { tell } from './harness.ts';
import type { MessagesServer, RecordedRequest, ReplyLike, Script } from '../helpers/messages-server/types.ts';
import type { Told } from './harness.ts';

export const MODEL = 'claude-sonnet-5-5';
export const KEY = 'sk-ant-api03-not-a-real-key-0123456789';
/** Three of the files below fill it, the fourth would not fit any more. */
export const WINDOW = 3800;
export const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const FILES = Object.fromEntries(NAMES.map((name) => [name, name.repeat(3600)]));

export function read(path: string): ReplyLike {
  return reply.tool('read_file', { path });
}

/** Replies after which a summary is asked for. */
export const full = [read('a'), read('b'), read('c')];

export interface Filled extends Told {
  server: MessagesServer;
}

/** Runs against a service that refuses what its window cannot take, and counts tokens by bytes. */
export async function fill(replies: Script, task: Record<string, unknown> = {}, model: object = {}): Promise<Filled> {
  const server = await startMessagesServer({
    replies,
    conversations: 'by_first_message',
    foreign_history: true,
    simulate_cache: true,
    models: { [MODEL]: { max_input_tokens: WINDOW } },
  });
  onTestFinished(() => server.close());
  const run = await tell({
    task: { tools: { read_file: {} }, ...task },
    model: { provider: 'anthropic', id: MODEL, base_url: server.url, context_tokens: WINDOW, ...model },
    files: FILES,
    env: { ANTHROPIC_API_KEY: KEY },
  });
  const { divergence } = await replay({ run_dir: run.run_dir });
  expect(divergence, 'a replay of the run').toBeNull();
  return { ...run, server };
}

/** All text of a request's messages, one text a message. */
export function said(request: RecordedRequest | undefined): string[] {
  return messagesOf(request?.body ?? {}).map(({ content }) => JSON.stringify(content));
}
