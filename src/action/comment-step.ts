// The comment of a step: what was asked for, checked before anything is spent, and posted when the run is over.

import { setTimeout as wait } from 'node:timers/promises';
import type { Env } from '../config/merge.ts';
import type { CommentConfig, TaskConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { logLine } from '../core/sanitise.ts';
import { type Commented, publishComment } from '../publish/comment.ts';
import type { ApiAccess } from '../publish/github-api.ts';
import { type CommentTarget, commentTarget } from '../publish/target.ts';
import { workflowRun } from '../publish/workflow-run.ts';
import { type CommentInputs, type GetInput, readCommentInputs } from './inputs.ts';
import type { Ended } from './outputs.ts';

/** A comment that can be posted as far as that can be known before a run. */
export interface CommentPlan {
  token: string;
  key: string;
  target: CommentTarget;
  comment: CommentConfig;
  /** Absent: the task was never read. */
  task?: TaskConfig;
  /** Only in the place of an earlier one: whether the task wants a comment is not known. */
  only_replace: boolean;
}

/** A cancelled job is killed some seconds after its signal. */
const CANCELLED_MS = 3000;
const BUILT_IN: CommentConfig = { template: null, sticky: true };

/** What to post; undefined when step and task want no comment. Throws UsageError for one that nobody could post. */
export function planComment(
  { token, key, wanted }: CommentInputs,
  task: TaskConfig,
  env: Env,
): CommentPlan | undefined {
  const own = task.github?.comment;
  // Either side can say no.
  if (wanted === false || own === false || (own === undefined && wanted === undefined)) return undefined;
  if (token === '') {
    throw new UsageError(
      'a comment is asked for, but the input "github-token" is empty; give it github.token, with `permissions: pull-requests: write` for the job, or set the input "comment" to false',
    );
  }
  return { token, key, target: commentTarget(env), comment: own ?? BUILT_IN, task, only_replace: false };
}

/** For a step that never read its task: an earlier verdict must not stand there as if it were this run's. */
export function planWithoutTask(get: GetInput, env: Env): CommentPlan | undefined {
  try {
    const { token, key, wanted } = readCommentInputs(get);
    if (token === '' || wanted === false) return undefined;
    return { token, key, target: commentTarget(env), comment: BUILT_IN, only_replace: wanted !== true };
  } catch {
    // UsageError: the step ends with a mistake already, and this one would only hide it.
    return undefined;
  }
}

/** Posts it; how that went. */
export async function postComment(
  plan: CommentPlan,
  ended: Ended,
  { env, signal: cancelled }: { env: Env; signal: AbortSignal },
): Promise<Commented> {
  const { result_file: result } = ended;
  if (result === undefined) return { ok: false, reason: 'the comment cannot be posted: the run has no result' };
  const log = (text: string): void => void process.stderr.write(`comment: ${logLine(text)}\n`);
  const signal = ended.outcome.reason === 'cancelled' ? AbortSignal.timeout(CANCELLED_MS) : cancelled;
  const { token, key, target, comment, task, only_replace } = plan;
  const commented = await publishComment({
    access: { token, ...addressesOf(env), env, clock: CLOCK, signal, log },
    target,
    comment,
    key,
    workflow: workflowRun(env),
    result,
    task_known: task !== undefined,
    findings: task?.findings,
    inputs: task?.inputs ?? {},
    only_replace,
  });
  if (!commented.ok) return { ok: false, reason: `the comment cannot be posted: ${commented.reason}` };
  if (commented.what === 'superseded') log(`a newer run has the word: ${commented.url}`);
  return commented;
}

function addressesOf(env: Env): Pick<ApiAccess, 'url' | 'graphql_url'> {
  const url = (env['GITHUB_API_URL'] || 'https://api.github.com').replace(/\/+$/, '');
  const graphql_url = env['GITHUB_GRAPHQL_URL'] || `${url.replace(/\/v3$/, '')}/graphql`;
  for (const [name, value] of Object.entries({ GITHUB_API_URL: url, GITHUB_GRAPHQL_URL: graphql_url })) {
    if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
      throw new UsageError(`${name} is ${JSON.stringify(value)}, expected a URL`);
    }
  }
  return { url, graphql_url };
}

/** Unlike the run's clock this one keeps the process alive: nothing else does while we wait for GitHub. */
const CLOCK: ApiAccess['clock'] = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    try {
      await wait(ms, undefined, signal ? { signal } : {});
    } catch {
      // AbortError: an aborted sleep is simply over.
    }
  },
};
