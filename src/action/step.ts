// One step of a workflow: inputs, run, outputs, summary, annotations, and the code the step ends with.

import process from 'node:process';
import { error, getInput, setSecret, warning } from '@actions/core';
import { triggerRefusal } from '../config/association.ts';
import type { Env } from '../config/merge.ts';
import type { CancelSignal } from '../core/outcome.ts';
import { logLine } from '../core/sanitise.ts';
import { run } from '../run/run.ts';
import { watchRun } from '../run/watchers.ts';
import { type CommentPlan, planWithoutTask } from './comment-step.ts';
import { createGuard, type Guard } from './guard.ts';
import { checkInputNames } from './input-names.ts';
import { type ActionInputs, type FailOn, readFailOn, readInputs, SECRET_INPUTS } from './inputs.ts';
import { loadStep, type Step } from './load-step.ts';
import type { Ended } from './outputs.ts';
import { type Problems, publish } from './publish-step.ts';
import { CancelledEarly, printStack, TriggerRefused, withoutRun } from './without-run.ts';

/** Does what the step's inputs ask; the code the process ends with. Throws nothing. */
export async function runStep(env: Env, cwd: string): Promise<number> {
  maskSecrets();
  const signals = watchSignals();
  const guard = createGuard(env, cwd);
  const failOn = await settled(() => readFailOn(getInput));
  const inputs = await settled(() => {
    valueOf(failOn);
    checkInputNames(env);
    return readInputs(getInput);
  });
  const step = await settled(() => unlessCancelled(load(valueOf(inputs), env, cwd), signals));
  const ended = await settled(() => runTask({ step: valueOf(step), guard, cwd }, signals.first()));
  const ending = ended.ok
    ? ended.value
    : withoutRun(ended.cause, { out: getInput('out'), task_file: getInput('task'), env, cwd });
  const plan = step.ok ? step.value.comment : planWithoutStep(ended, env);
  const summary = step.ok ? step.value.summary : !inputs.ok || inputs.value.summary;
  const publishing = { env, step: step.ok ? step.value : undefined, summary, plan, signal: signals.signal };
  const problems = await publish(ending, publishing);
  guard.end();
  return report(ending, problems, failOn.ok ? failOn.value : 'error');
}

/** A stranger's comment costs nothing: it is refused before anything else is read. */
function load(inputs: ActionInputs, env: Env, cwd: string): Promise<Step> {
  const refusal = triggerRefusal(env, inputs.allowed_associations);
  if (refusal !== undefined) throw new TriggerRefused(refusal);
  return loadStep(inputs, env, cwd);
}

function planWithoutStep(ended: Settled<Ended>, env: Env): CommentPlan | undefined {
  // An event that may not set off a run says nothing of an earlier one.
  const isRefused = !ended.ok && ended.cause instanceof TriggerRefused;
  return isRefused ? undefined : planWithoutTask(getInput, env);
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

interface Signals {
  first: () => CancelSignal | undefined;
  /** Aborts with the first of them. */
  signal: AbortSignal;
}

/** From now a signal ends no process by itself: a cancelled step still writes its outputs. */
function watchSignals(): Signals {
  let first: CancelSignal | undefined;
  const controller = new AbortController();
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      first ??= name;
      controller.abort();
    });
  }
  return { first: () => first, signal: controller.signal };
}

/** Reading a task may fetch a commit, and a cancelled step has no time to wait for it. */
function unlessCancelled<T>(part: Promise<T>, { first, signal }: Signals): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new CancelledEarly(first() ?? 'SIGTERM'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    part.then(resolve, reject);
  });
}

interface Start {
  step: Step;
  guard: Guard;
  cwd: string;
}

async function runTask({ step, guard, cwd }: Start, signal: CancelSignal | undefined): Promise<Ended> {
  if (signal) throw new CancelledEarly(signal);
  const { config, options } = step;
  const env = guard.begin(step);
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
  if (result.remark !== undefined) warning(logLine(result.remark));
  return result;
}

/** One error line for every ending but success; the code after `fail-on`. */
function report(ended: Ended, { all, comment }: Problems, failOn: FailOn): number {
  const code = ended.exit_code === 0 && all.length > 0 ? 1 : ended.exit_code;
  const texts = [...(ended.exit_code === 0 ? [] : [ended.message]), ...all];
  const title = ended.exit_code === 0 ? 'io_error' : ended.outcome.reason;
  if (code !== 0) error(logLine(texts.join('; ')), { title: `agent-run: ${title} (exit ${code})` });
  if (failOn === 'never') return 0;
  return failOn === 'error' || comment || code === 8 || code === 9 ? code : 0;
}
