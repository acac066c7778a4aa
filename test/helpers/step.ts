// Starts the built action the way the runner does, beside servers of the test's own process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './pages.ts';
import { readOutputs } from './step-files.ts';
import { tempTree } from './temp.ts';

export interface StepSetup {
  /** Turns of the script; ignored when `task` names another model. */
  turns?: object[];
  /** Further fields of the task. */
  task?: object;
  /** Files of the checkout besides task.json. */
  files?: Record<string, string>;
  /** Another checkout, in which nothing is written. */
  cwd?: string;
  inputs?: Record<string, string>;
  /** GITHUB_EVENT_NAME and its payload. */
  event?: { name: string; payload: unknown };
  env?: Record<string, string>;
  /** Called with the process as soon as it says something on stderr. */
  onStart?: (kill: (signal: NodeJS.Signals) => void) => void;
}

export interface StepEnd {
  status: number | null;
  stdout: string;
  stderr: string;
  outputs: Record<string, string>;
  summary: string;
  folder: string;
}

/** The output a task is asked for, handed over in one turn. */
export const submit = (value: object): object => ({ tool_use: [{ name: 'submit_result', input: value }] });

/** Runs one step to its end. */
export async function runStep(setup: StepSetup): Promise<StepEnd> {
  const { turns = [{ text: 'done' }], task, inputs = {}, event, env = {} } = setup;
  const definition = { prompt: 'Go.', model: { provider: 'script', id: 'script', script: { turns } }, ...task };
  const folder = tempTree({
    'checkout/task.json': JSON.stringify(definition),
    'files/output': '',
    'files/summary': '',
    'files/event.json': JSON.stringify(event?.payload ?? {}),
    'temp/.keep': '',
    ...Object.fromEntries(Object.entries(setup.files ?? {}).map(([name, text]) => [`checkout/${name}`, text])),
  });
  const given = Object.entries({ task: 'task.json', ...inputs }).map(([name, value]) => [
    `INPUT_${name.toUpperCase()}`,
    value,
  ]);
  const runner = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    GITHUB_ACTIONS: 'true',
    GITHUB_OUTPUT: join(folder, 'files/output'),
    GITHUB_STEP_SUMMARY: join(folder, 'files/summary'),
    RUNNER_TEMP: join(folder, 'temp'),
    ...(event ? { GITHUB_EVENT_NAME: event.name, GITHUB_EVENT_PATH: join(folder, 'files/event.json') } : {}),
  };
  const child = spawn(process.execPath, [join(ROOT, 'dist/action.mjs')], {
    cwd: setup.cwd ?? join(folder, 'checkout'),
    env: { ...runner, ...Object.fromEntries(given), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (texts.stdout += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (texts.stderr += chunk.toString('utf8')));
  child.stderr.once('data', () => setup.onStart?.((signal) => void child.kill(signal)));
  const [status] = (await once(child, 'close')) as [number | null]; // the event's first argument is the code
  return {
    status,
    ...texts,
    outputs: readOutputs(readFileSync(join(folder, 'files/output'), 'utf8')),
    summary: readFileSync(join(folder, 'files/summary'), 'utf8'),
    folder,
  };
}
