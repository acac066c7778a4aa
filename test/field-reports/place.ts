import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { tempFolder, writeTree } from '../helpers/temp.ts';
import type { MessagesServer, ReplyFunction, ReplyLike, ServerOptions } from '../helpers/messages-server/types.ts';

export const KEY = 'sk-ant-api03-field-report-key-0123456789';
export const MODEL = 'claude-sonnet-5-5';

/** One run of the product against the stand-in of the Messages API. */
export interface Case {
  replies?: (ReplyLike | ReplyFunction)[] | ReplyFunction;
  /** Fields of the task beside its model. */
  task?: Record<string, unknown>;
  /** Fields over those of the model; null: the task has no base_url and no request is expected. */
  model?: Record<string, unknown>;
  /** Files of the workspace. */
  files?: Record<string, string | Uint8Array>;
  /** Files beside the task file. */
  beside?: Record<string, string | Uint8Array>;
  /** Options behind the task file. */
  flags?: string[];
  env?: Record<string, string>;
  server?: Omit<ServerOptions, 'replies'>;
  /** Does the last things to the folder before the run. */
  prepare?(place: Place): void;
  /** Texts that may stand in no artifact and no stream, besides the API key. */
  canaries?: string[];
}

/** Where a run happens: a task, its workspace, its run folder, its service. */
export interface Place {
  folder: string;
  workspace: string;
  run_dir: string;
  /** NAME=VALUE in the environment of everything the run starts. */
  mark: string;
  env: Record<string, string>;
  argv: string[];
  server: MessagesServer;
  canaries: string[];
}

/** Makes the place of a case; whatever it holds is gone when the test ends. */
export async function placeOf(given: Case): Promise<Place> {
  const { replies, files = {}, beside = {}, flags = [], env = {}, canaries = [] } = given;
  const server = await startMessagesServer({
    api_key: KEY,
    ...(replies === undefined ? {} : { replies }),
    ...given.server,
  });
  onTestFinished(() => server.close());
  const folder = tempFolder();
  const workspace = join(folder, 'workspace');
  const run_dir = join(folder, 'out');
  const id = randomBytes(8).toString('hex');
  writeTree(folder, { 'task.json': JSON.stringify(taskOf(given, server.url)), 'workspace/README.md': 'hello\n' });
  writeTree(folder, beside);
  writeTree(workspace, files);
  const place: Place = {
    folder,
    workspace,
    run_dir,
    mark: `FIELD_RUN=${id}`,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ANTHROPIC_API_KEY: KEY, FIELD_RUN: id, ...env },
    argv: ['task.json', '--workspace', 'workspace', '--out', 'out', ...flags],
    server,
    canaries: [KEY, ...canaries],
  };
  given.prepare?.(place);
  return place;
}

function taskOf({ task = {}, model = {} }: Case, base_url: string): Record<string, unknown> {
  const sandbox = { mode: 'off', env: ['FIELD_RUN'] };
  const service = { provider: 'anthropic', id: MODEL, base_url, ...model };
  return { version: 1, name: 'report', prompt: 'Do it.', sandbox, ...task, model: service };
}
