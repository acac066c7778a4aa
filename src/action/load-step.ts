// Inputs and environment -> what is run: the same options and the same task loading as the command line.

import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { checkoutOf, repositoryOf } from '../config/checkout.ts';
import { baseCommit } from '../config/event-commits.ts';
import { type LoadRequest, loadRun } from '../config/load.ts';
import { type Env, mergeOptions, type RunOptions } from '../config/merge.ts';
import type { ReadFile } from '../config/source.ts';
import { untrustedReason } from '../config/trust.ts';
import type { RunConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { type CommentPlan, planComment } from './comment-step.ts';
import type { ActionInputs } from './inputs.ts';

export interface Step {
  config: RunConfig;
  options: RunOptions;
  /** What the run sees: without the step's own inputs, with the keys under their names. */
  env: Env;
  /** Both the step and the task can say no. */
  annotations: boolean;
  summary: boolean;
  /** Absent: no comment is asked for. */
  comment?: CommentPlan;
}

/** The run that the inputs describe; throws UsageError for every mistake of the caller. */
export async function loadStep(inputs: ActionInputs, env: Env, cwd: string): Promise<Step> {
  const merged = mergeOptions(inputs.flags, env);
  checkCheckout(resolve(cwd, merged.workspace ?? '.'), resolve(cwd, inputs.task));
  const base = merged.task_ref === undefined ? defaultRef(inputs.task, merged, { env, cwd }) : undefined;
  const ref = base === undefined ? {} : { task_ref: base };
  const options: RunOptions = { ...merged, ...ref, inputs: [...merged.inputs, ...inputs.inputs] };
  const readStdin = (): Promise<{ ok: false; reason: string }> =>
    Promise.resolve({ ok: false, reason: 'a step has no standard input' });
  const openCommit: LoadRequest['openCommit'] = async (given, folder) => {
    const opened = await (await import('../run/task-ref.ts')).openCommit(given, { cwd: folder, env });
    return base === undefined ? opened : { ...opened, read: explaining(opened.read) };
  };
  const loaded = await loadRun({ file: inputs.task, options, env, cwd, readStdin, openCommit });
  const task = inputs.sandbox_required
    ? { ...loaded.task, sandbox: { ...loaded.task.sandbox, mode: 'required' as const } }
    : loaded.task;
  const config = { ...loaded, task, out: loaded.out ?? newFolder(env) };
  const { summary = true, annotations = true } = config.task.github ?? {};
  const published = { annotations: inputs.annotations && annotations, summary: inputs.summary && summary };
  const comment = planComment(inputs.comment, config.task, env);
  return { config, options, env: runEnv(inputs, config, env), ...published, ...(comment ? { comment } : {}) };
}

/** A job begins in an empty folder, which is not what "no such file" makes anybody think of. */
function checkCheckout(workspace: string, task: string): void {
  if (existsSync(task) || !existsSync(workspace) || readdirSync(workspace).length > 0) return;
  throw new UsageError(
    `cannot read the task ${JSON.stringify(task)}: the workspace is empty; put \`uses: actions/checkout\` before this step`,
  );
}

/** The base of a pull request for a task in its checkout: a pull request must not choose its own reviewer. */
function defaultRef(task: string, options: RunOptions, { env, cwd }: { env: Env; cwd: string }): string | undefined {
  const workspace = resolve(cwd, options.workspace ?? '.');
  const ofPull = env['GITHUB_EVENT_NAME']?.startsWith('pull_request') ?? false;
  const asked = ofPull || options.untrusted || untrustedReason(env) !== undefined;
  if (!asked || !existsSync(workspace) || repositoryOf(workspace) === undefined) return undefined;
  return checkoutOf(workspace)(resolve(cwd, task)) ? baseCommit(env) : undefined;
}

/** Says where a file was looked for when nobody named the commit. */
function explaining(read: ReadFile): ReadFile {
  const where =
    'the base of the event, which the input "task-ref" names by default; what a pull request adds or changes there counts once it is merged';
  return async (path) => {
    const result = await read(path);
    return result.ok ? result : { ok: false, reason: `${result.reason} (${where})` };
  };
}

/** A folder of its own for each step, where later steps find it and the checkout stays clean. */
export function newFolder(env: Env): string {
  return mkdtempSync(join(env['RUNNER_TEMP'] || tmpdir(), 'agent-run-'));
}

function runEnv(inputs: ActionInputs, config: RunConfig, env: Env): Env {
  checkKeyless(inputs, env);
  const own = Object.entries(env).filter(([name]) => !name.startsWith('INPUT_'));
  const keys = {
    ...(inputs.anthropic_api_key === '' ? {} : { ANTHROPIC_API_KEY: inputs.anthropic_api_key }),
    ...(inputs.api_key === '' ? {} : { [keyName(config)]: inputs.api_key }),
    ...inputs.federation,
  };
  return { ...Object.fromEntries(own), ...keys };
}

/** A key in the environment goes before keyless access, so the ids would be passed over in silence. */
function checkKeyless({ federation }: ActionInputs, env: Env): void {
  const key = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'].find((name) => env[name]?.trim());
  if (key === undefined || Object.keys(federation).length === 0) return;
  throw new UsageError(`the input "federation-rule-id" is given, and ${key} is set in the environment; keep one`);
}

function keyName({ task: { model } }: RunConfig): string {
  const names = [model, ...model.fallback].flatMap(({ api_key_env }) => api_key_env ?? []);
  if (names[0] !== undefined) return names[0];
  throw new UsageError('the input "api-key" is given, but the task names no variable in model.api_key_env');
}
