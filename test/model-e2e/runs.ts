import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { EXIT_CODES } from '../../src/core/outcome.ts';
import { readJournal } from '../../src/journal/journal.ts';
import { useCli } from '../helpers/cli.ts';
import { tempFolder, writeTree } from '../helpers/temp.ts';
import type { RunEvent } from '../../src/core/events.ts';

/** Any key does for a local server; the anthropic provider asks for one. */
const ENV = { ANTHROPIC_API_KEY: 'a-local-server-takes-any-key' };

export interface ModelRun {
  code: number | null;
  result: {
    exit_reason: string;
    exit_code: number;
    message: string;
    output: unknown;
    turns: number;
    usage: Record<string, number> & { estimated: boolean };
  };
  run_dir: string;
  events: RunEvent[];
  /** From the signal to the end; 0 without one. */
  ending_ms: number;
}

export type RunTask = (task: object, interrupt?: () => Promise<unknown>) => Promise<ModelRun>;

/**
 * Runs tasks through the built command line, in a fresh folder each; `interrupt` says when SIGINT comes. Whatever the
 * model says, a run must end by a name, with that name's code, and with 0 only if there is an output.
 */
export function useRuns(): RunTask {
  const cli = useCli();
  return async (task, interrupt) => {
    const cwd = tempFolder();
    const whole = { version: 1, name: 'real', sandbox: { mode: 'off' }, ...task };
    writeTree(cwd, { 'task.json': JSON.stringify(whole), 'README.md': 'The project is called Lighthouse.\n' });
    const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, ...ENV };
    const child = spawn(process.execPath, [cli.path(), 'task.json', '--out', 'run', '--quiet'], { cwd, env });
    child.stdout.resume();
    child.stderr.resume();
    let signalled = Date.now();
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    if (interrupt) {
      await interrupt();
      signalled = Date.now();
      child.kill('SIGINT');
    }
    const code = await ended;
    const ending_ms = interrupt ? Date.now() - signalled : 0;
    const result = JSON.parse(readFileSync(join(cwd, 'run/result.json'), 'utf8')) as ModelRun['result'];
    const { exit_reason } = result;
    const named = exit_reason === 'cancelled' ? 130 : EXIT_CODES[exit_reason as keyof typeof EXIT_CODES];
    expect([named, result.exit_code]).toEqual([code, code]);
    expect(existsSync(join(cwd, 'run/output.json')) || existsSync(join(cwd, 'run/output.md'))).toBe(code === 0);
    const run_dir = join(cwd, 'run');
    return { code, result, run_dir, events: readJournal(join(run_dir, 'transcript.jsonl')).events, ending_ms };
  };
}
