// A step as GitHub's runner runs it: command files, INPUT_* variables, a post stage that gets what main saved.

import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { readOutputs } from './step-files.ts';
import { tempTree } from './temp.ts';

export interface StepSetup {
  /** Fields of the task in the checkout beside its prompt; `turns` makes its model a script. */
  task?: object;
  turns?: object[];
  inputs?: Record<string, string>;
  env?: Record<string, string>;
  /** Further files of the checkout. */
  files?: Record<string, string>;
}

export interface RunnerStep {
  folder: string;
  checkout: string;
  env: Record<string, string>;
}

const COMMAND_FILES = { GITHUB_OUTPUT: 'output', GITHUB_STEP_SUMMARY: 'summary', GITHUB_STATE: 'state' };

/** A checkout with a task, the command files of a step, and its environment. */
export function setUpStep({ task, turns, inputs = {}, env = {}, files = {} }: StepSetup): RunnerStep {
  const model = turns === undefined ? {} : { model: { provider: 'script', id: 'script', script: { turns } } };
  const folder = tempTree({
    'checkout/task.json': JSON.stringify({ prompt: 'Go.', ...model, ...task }),
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`checkout/${name}`, text])),
    ...Object.fromEntries([...Object.values(COMMAND_FILES), 'env', 'path'].map((name) => [`files/${name}`, ''])),
    'temp/.keep': '',
  });
  const given = Object.entries({ task: 'task.json', ...inputs });
  const places = Object.entries(COMMAND_FILES).map(([name, file]) => [name, join(folder, 'files', file)]);
  const runner = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_ENV: join(folder, 'files/env'),
    GITHUB_PATH: join(folder, 'files/path'),
    GITHUB_WORKSPACE: join(folder, 'checkout'),
    RUNNER_TEMP: join(folder, 'temp'),
  };
  const values = given.map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  return {
    folder,
    checkout: join(folder, 'checkout'),
    env: { ...runner, ...Object.fromEntries([...places, ...values]), ...env },
  };
}

export interface Stage {
  child: ChildProcessWithoutNullStreams;
  /** Resolves when stdout and stderr together hold the text. */
  said(text: string): Promise<void>;
  done: Promise<StageEnd>;
}

export interface StageEnd {
  status: number | null;
  signal: string | null;
  /** stdout and stderr, as they came. */
  log: string;
  outputs: Record<string, string>;
  summary: string;
}

/** Starts one stage with a Node; the runner sees its end when the process is gone, whoever still holds the pipes. */
export function startStage({ folder, checkout, env }: RunnerStep, entry: string, node = process.execPath): Stage {
  const child = spawn(node, [entry], { cwd: checkout, env });
  child.stdin.end();
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await done.catch(() => {}); // the files it is read from go next
  });
  const listeners = new Set<() => void>();
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      for (const listener of listeners) listener();
    });
  }
  const read = (name: string): string => readFileSync(join(folder, 'files', name), 'utf8');
  const done = new Promise<StageEnd>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (status, signal) =>
      setTimeout(
        () => resolve({ status, signal, log, outputs: readOutputs(read('output')), summary: read('summary') }),
        50,
      ),
    );
  });
  const said = (wanted: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (log.includes(wanted)) resolve();
      };
      listeners.add(look);
      child.on('exit', (code) => reject(new Error(`ended with ${code} before "${wanted}": ${log}`)));
      look();
    });
  return { child, said, done };
}

/** The step as its post stage sees it: what main saved comes as STATE_ variables, and the command files are new. */
export function postStep(step: RunnerStep): RunnerStep {
  const saved = readOutputs(readFileSync(join(step.folder, 'files/state'), 'utf8'));
  for (const name of Object.values(COMMAND_FILES)) writeFileSync(join(step.folder, 'files', name), '');
  const state = Object.entries(saved).map(([name, value]) => [`STATE_${name}`, value]);
  return { ...step, env: { ...step.env, ...Object.fromEntries(state) } };
}
