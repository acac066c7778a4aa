import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadRun } from '../../src/config/load.ts';
import { mergeOptions } from '../../src/config/merge.ts';
import { readJournal } from '../../src/journal/journal.ts';
import { run } from '../../src/run/run.ts';
import { tempFolder, writeTree } from '../helpers/temp.ts';
import type { RunConfig, ScriptTurn } from '../../src/core/config.ts';
import type { RunEvent } from '../../src/core/events.ts';
import type { SegmentResult } from '../../src/run/segment.ts';

export interface Story {
  /** Fields of the task beside its model. */
  task?: Record<string, unknown>;
  turns?: ScriptTurn[];
  /** Replaces the scripted model. */
  model?: unknown;
  files?: Record<string, string>;
  flags?: Record<string, string | boolean | string[]>;
  env?: Record<string, string>;
  /** Where task and workspace lie; default: a fresh folder. */
  folder?: string;
}

export interface Told extends SegmentResult {
  events: RunEvent[];
  workspace: string;
  /** The text of an artifact, or undefined when the run has none of that name. */
  artifact(name: string): string | undefined;
}

/** A task in a fresh folder, its workspace beside it. */
export async function configOf(story: Story): Promise<{ config: RunConfig; folder: string; workspace: string }> {
  const folder = story.folder ?? tempFolder();
  const workspace = join(folder, 'workspace');
  const model = story.model ?? { provider: 'script', id: 'script', script: { turns: story.turns ?? [] } };
  const task = { version: 1, name: 'story', prompt: 'Do it.', sandbox: { mode: 'off' }, ...story.task, model };
  writeTree(folder, { 'task.json': JSON.stringify(task), 'workspace/README.md': 'hello\n' });
  writeTree(workspace, story.files ?? {});
  const flags = { workspace, out: join(folder, 'run'), ...story.flags };
  const env = story.env ?? {};
  const readStdin = async () => ({ ok: false as const, reason: 'no stdin in tests' });
  const config = await loadRun({ file: 'task.json', options: mergeOptions(flags, env), env, cwd: folder, readStdin });
  return { config, folder, workspace };
}

/** Runs the story through everything a user's run goes through, but the command line. */
export async function tell(story: Story): Promise<Told> {
  const { config, folder, workspace } = await configOf(story);
  const env = { PATH: process.env['PATH'] ?? '', ...story.env };
  return told(await run({ config, env, cwd: folder, subscribers: () => [] }), workspace);
}

export function told(result: SegmentResult, workspace: string): Told {
  const { events } = readJournal(join(result.run_dir, 'transcript.jsonl'));
  const artifact = (name: string): string | undefined => {
    const file = join(result.run_dir, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  return { ...result, events, workspace, artifact };
}

/** Events of one type, in order. */
export function ofType<T extends RunEvent['type']>(
  events: readonly RunEvent[],
  type: T,
): Extract<RunEvent, { type: T }>[] {
  return events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type);
}

/** A script turn that calls tools. */
export function calls(...list: [name: string, input: Record<string, unknown>][]): ScriptTurn {
  return { tool_use: list.map(([name, input]) => ({ name, input: input as never })) };
}
