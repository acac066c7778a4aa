// One scripted run whose effects are counted outside of it, to be killed anywhere and resumed.

import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolUses } from '../../src/core/messages.ts';
import { readJournal } from '../../src/journal/journal.ts';
import { writeTree } from '../helpers/temp.ts';
import type { ChildProcess } from 'node:child_process';
import type { ScriptTurn } from '../../src/core/config.ts';
import type { RunEvent } from '../../src/core/events.ts';

export interface KillRun {
  folder: string;
  run_dir: string;
  transcript: string;
  /** Every effect appends its name to this file, which lies outside the workspace. */
  counter: string;
  /** Effects in the order of the script. */
  effects: readonly string[];
}

export interface Ended {
  /** null when it was killed. */
  code: number | null;
  stdout: string;
  stderr: string;
  ms: number;
}

const TURNS = 20;
const read = { name: 'read_file', input: { path: 'notes.md' } };
const look = { name: 'bash', input: { command: 'cat notes.md' } };

function effect(name: string): NonNullable<ScriptTurn['tool_use']>[number] {
  return { name: 'bash', input: { command: `./effect.sh ${name}` } };
}

/** 20 turns: reads that start early, effects in and between them, a refused output, verify and gate. */
function turns(): { script: ScriptTurn[]; effects: string[] } {
  const effects: string[] = [];
  const next = (): ReturnType<typeof effect> => effect(effects[effects.push(`e${effects.length + 1}`) - 1] ?? '');
  const script: ScriptTurn[] = Array.from({ length: TURNS - 3 }, (_, index) => {
    const kinds = [() => [read, look], () => [next()], () => [read, next(), read], () => [next(), next()]];
    return { delay_ms: 5, text: `step ${index}`, tool_use: kinds[index % 4]?.() ?? [] };
  });
  script.push({ error: { status: 529, headers: { 'retry-after-ms': '20' } } });
  script.push({ tool_use: [{ name: 'submit_result', input: { done: 'almost' } }] });
  script.push({ tool_use: [next(), read] });
  script.push({ tool_use: [{ name: 'submit_result', input: { done: true } }] });
  return { script, effects };
}

/** Writes the run below a folder; `effect_script` is what an effect does besides counting itself. */
export function writeKillRun(folder: string, around: { before?: string; after?: string } = {}): KillRun {
  const { script, effects } = turns();
  const counter = join(folder, 'counter');
  const run_dir = join(folder, 'out');
  const task = {
    prompt: 'Do it.',
    model: { provider: 'script', script: { turns: script } },
    tools: { read_file: {}, bash: { allow: ['./effect.sh *', 'cat *'] } },
    sandbox: { mode: 'off' },
    output: {
      schema: { type: 'object', properties: { done: { const: true } }, required: ['done'] },
      gate: { required: ['done'] },
    },
    verify: [{ run: ['test', '-f', 'notes.md'] }],
  };
  const body = `#!/bin/sh\n${around.before ?? ''}\necho "$1" >> '${counter}'\n${around.after ?? ''}\necho "did $1"\n`;
  writeTree(folder, {
    'task.json': JSON.stringify(task),
    'workspace/notes.md': 'notes\n',
    'workspace/effect.sh': body,
  });
  chmodSync(join(folder, 'workspace/effect.sh'), 0o755);
  return { folder, run_dir, transcript: join(run_dir, 'transcript.jsonl'), counter, effects };
}

export const RUN_ARGV = ['task.json', '--workspace', 'workspace', '--out', 'out', '--quiet'];
export const RESUME_ARGV = ['resume', 'out', '--quiet'];

/** A process of the command line in the run's folder; `watch` may kill it. */
export function start(
  cli: string,
  { folder }: KillRun,
  argv: readonly string[],
  watch: (kill: () => void, child: ChildProcess) => void = () => {},
): Promise<Ended> {
  const began = Date.now();
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder };
  const child = spawn(process.execPath, [cli, ...argv], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  }
  watch(() => void child.kill('SIGKILL'), child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    // Not `close`: what an effect left running may hold the pipes.
    child.on('exit', (code) => setImmediate(() => resolve({ code, ...text, ms: Date.now() - began })));
  });
}

/** How often each effect was counted. */
export function counts({ counter }: KillRun): Map<string, number> {
  const lines = existsSync(counter) ? readFileSync(counter, 'utf8').trimEnd().split('\n') : [];
  const found = new Map<string, number>();
  for (const line of lines) found.set(line, (found.get(line) ?? 0) + 1);
  return found;
}

/** Whole lines of the transcript; throws when one of them is broken. */
export function eventsOf({ transcript }: KillRun): RunEvent[] {
  return existsSync(transcript) ? readJournal(transcript).events : [];
}

/** The effects by what the transcript says of them. */
export function effectsBy(events: readonly RunEvent[], status: string): string[] {
  const names = new Map<string, string>();
  for (const event of events) {
    if (event.type !== 'model_reply') continue;
    for (const { id, input_json } of toolUses(event.content)) {
      const [, name] = /effect\.sh (e\d+)/.exec(input_json) ?? [];
      if (name !== undefined) names.set(id, name);
    }
  }
  return events.flatMap((event) =>
    event.type === 'tool_end' && event.status === status ? (names.get(event.tool_use_id) ?? []) : [],
  );
}
