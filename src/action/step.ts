// One step of a workflow: inputs, run, outputs, summary, annotations, and the code the step ends with.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { error, getInput, notice, setSecret, warning } from '@actions/core';
import type { Env } from '../config/merge.ts';
import { errorText } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import type { CancelSignal } from '../core/outcome.ts';
import { logLine } from '../core/sanitise.ts';
import { run } from '../run/run.ts';
import { watchRun } from '../run/watchers.ts';
import { annotationsOf } from './annotations.ts';
import { type FailOn, readFailOn, readInputs, SECRET_INPUTS } from './inputs.ts';
import { appendSummary, type Ended, stepOutputs, writeOutputs } from './outputs.ts';
import { loadStep, type Step } from './load-step.ts';
import { CancelledEarly, printStack, withoutRun } from './without-run.ts';

/** Does what the step's inputs ask; the code the process ends with. Throws nothing. */
export async function runStep(env: Env, cwd: string): Promise<number> {
  maskSecrets();
  const cancelled = watchSignals();
  const failOn = await settled(() => readFailOn(getInput));
  const inputs = await settled(() => {
    valueOf(failOn);
    return readInputs(getInput);
  });
  const step = await settled(() => loadStep(valueOf(inputs), env, cwd));
  const ended = await settled(() => runTask(valueOf(step), cwd, cancelled()));
  const ending = ended.ok
    ? ended.value
    : withoutRun(ended.cause, { out: getInput('out'), task_file: getInput('task'), env, cwd });
  const problems = [
    attempt(() => publishOutputs(ending, env['GITHUB_OUTPUT'])),
    attempt(() => publishSummary(ending, env['GITHUB_STEP_SUMMARY'], step)),
    attempt(() => annotate(ending, step)),
  ].flatMap((problem) => problem ?? []);
  return report(ending, problems, failOn.ok ? failOn.value : 'error');
}

type Settled<T> = { ok: true; value: T } | { ok: false; cause: unknown };

/** What a named part of the step came to; the next part hands an error on. */
async function settled<T>(part: () => T | Promise<T>): Promise<Settled<T>> {
  try {
    return { ok: true, value: await part() };
  } catch (cause) {
    // UsageError: the caller's mistake. Anything else is a bug, told as one when the step ends.
    return { ok: false, cause };
  }
}

function valueOf<T>(part: Settled<T>): T {
  if (!part.ok) throw part.cause;
  return part.value;
}

/** Each line on its own, since logs are masked line by line; shorter ones would blacken every log. */
function maskSecrets(): void {
  const lines = SECRET_INPUTS.flatMap((name) => getInput(name).split(/\r?\n/));
  for (const line of lines) if (line.trim().length >= 4) setSecret(line.trim());
}

/** From now a signal ends no process by itself: a cancelled step still writes its outputs. */
function watchSignals(): () => CancelSignal | undefined {
  let first: CancelSignal | undefined;
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => (first ??= signal));
  return () => first;
}

async function runTask(step: Step, cwd: string, signal: CancelSignal | undefined): Promise<Ended> {
  if (signal) throw new CancelledEarly(signal);
  const { config, env, options } = step;
  const { quiet, verbose } = options;
  const write = (text: string): void => void process.stderr.write(text);
  const result = await run({
    config,
    env,
    cwd,
    onSecret: setSecret,
    subscribers: watchRun({ progress: { write, quiet, verbose, color: false } }),
  });
  if (result.fault !== undefined) printStack(result.fault);
  return result;
}

/** The sentence of what went wrong, if anything: one part that fails must not cost the others. */
function attempt(part: () => void): string | undefined {
  try {
    part();
    return undefined;
  } catch (cause) {
    // A full disk, or a file of the runner that is gone.
    return errorText(cause);
  }
}

function publishOutputs(ended: Ended, file: string | undefined): void {
  const { outputs, too_large } = stepOutputs(ended);
  if (too_large) warning(`the output is larger than 256 KiB, so it is only in ${outputs['output-file']}`);
  if (file) writeOutputs(file, outputs);
}

function publishSummary(ended: Ended, file: string | undefined, step: Settled<Step>): void {
  if (!file || !step.ok || !step.value.summary || ended.run_dir === undefined) return;
  const summary = join(ended.run_dir, 'summary.md');
  if (existsSync(summary)) appendSummary(file, readFileSync(summary, 'utf8'));
}

const EMIT = { error, warning, notice };

function annotate({ output_text }: Ended, step: Settled<Step>): void {
  const map = step.ok && step.value.annotations ? step.value.config.task.findings : undefined;
  const output = parseJson(output_text ?? '');
  if (!map || !output.ok) return;
  const { shown, left_out } = annotationsOf(output.value, map);
  for (const { level, message, place } of shown) EMIT[level](message, place);
  if (left_out > 0)
    process.stderr.write(`${left_out} more findings are in the output; GitHub shows ten of each level\n`);
}

/** One error line for every ending but success; the code after `fail-on`. */
function report(ended: Ended, problems: readonly string[], failOn: FailOn): number {
  const code = ended.exit_code === 0 && problems.length > 0 ? 1 : ended.exit_code;
  const texts = [...(ended.exit_code === 0 ? [] : [ended.message]), ...problems];
  const title = ended.exit_code === 0 ? 'io_error' : ended.outcome.reason;
  if (code !== 0) error(logLine(texts.join('; ')), { title: `agent-run: ${title} (exit ${code})` });
  if (failOn === 'never') return 0;
  return failOn === 'error' || code === 8 || code === 9 ? code : 0;
}
