import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { toolUses } from '../../src/core/messages.ts';
import { addUsage, NO_USAGE } from '../../src/core/usage.ts';
import { follow } from '../../src/run/interrupts.ts';
import { replay } from '../../src/run/replay.ts';
import { resume } from '../../src/run/resume.ts';
import { run } from '../../src/run/run.ts';
import { configOf, ofType, told } from '../run/harness.ts';
import type { Told } from '../run/harness.ts';
import { FILES } from './conversations.ts';
import type { Conversation } from './conversations.ts';
import type { Served, Wire } from './wire.ts';

/** What has to be the same on every wire. */
export interface Played {
  reason: string;
  output: string | null;
  answers: unknown;
  /** The limit that was reached. */
  limit: string | null;
  calls: string[];
  /** Name, input and result of every call, as the model gave and got them. */
  executions: string[];
  turns: number;
  why: string[];
  /** Requests that became no reply. */
  attempts: number;
  input_tokens: number;
  output_tokens: number;
  /** What became of the file that the model wrote, if it did. */
  written: string | null;
  complaints: readonly string[];
  replay: unknown;
}

/** Plays a conversation over one wire, from the task file to the artifacts, and replays it. */
export async function play(conversation: Conversation, wire: Wire): Promise<Played> {
  const served = await wire.serve(conversation.turns);
  const done = await runOf(conversation, served);
  const { divergence } = await replay({ run_dir: done.run_dir });
  const { events } = done;
  const replies = ofType(events, 'model_reply');
  const inputs = new Map(replies.flatMap(({ content }) => toolUses(content)).map((call) => [call.id, call.input_json]));
  const ends = ofType(events, 'tool_end');
  const usage = replies.map((one) => one.usage).reduce(addUsage, NO_USAGE);
  const file = join(done.workspace, '文書');
  return {
    reason: done.outcome.reason,
    output: done.output_text,
    answers: done.result['answers'],
    limit: ofType(events, 'user_message').find(({ limit }) => limit)?.limit?.reason ?? null,
    calls: ends.map(({ name, status }) => `${name} ${status}`),
    executions: ends.map(({ name, tool_use_id, content }) => JSON.stringify([name, inputs.get(tool_use_id), content])),
    turns: replies.length,
    why: ofType(events, 'turn_start').map(({ reason }) => reason),
    attempts: ofType(events, 'attempt').length,
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    written: existsSync(file) ? readFileSync(file, 'utf8') : null,
    complaints: served.complaints(),
    replay: divergence,
  };
}

async function runOf(conversation: Conversation, served: Served): Promise<Told> {
  const { task = {}, files = {}, cancelled_after, resumed_with } = conversation;
  const model = { ...served.model, ...conversation.model };
  const { config, folder, workspace } = await configOf({ task, files: { ...FILES, ...files }, model, env: served.env });
  const env = { PATH: process.env['PATH'] ?? '', ...served.env };
  const interrupts = follow();
  const running = run({ config, env, cwd: folder, interrupts, subscribers: () => [] });
  if (cancelled_after !== undefined) {
    await vi.waitFor(() => {
      if (served.asked() < cancelled_after) throw new Error('not yet asked');
    });
    interrupts.abort({ reason: 'cancelled', signal: 'SIGTERM' });
  }
  const first = await running;
  if (resumed_with === undefined) return told(first, workspace);
  const again = { run_dir: first.run_dir, limits: resumed_with, allow_changed: false, env, cwd: folder };
  return told(await resume({ ...again, interrupts: follow(), subscribers: () => [] }), workspace);
}
