// What a step publishes when its run is over: outputs first, since a job that is cancelled may end at any moment.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { error, notice, warning } from '@actions/core';
import type { Env } from '../config/merge.ts';
import { errorText } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import { nextCommand } from '../run/next-command.ts';
import { headLine } from '../run/summary.ts';
import { annotationsOf, type Taken } from './annotations.ts';
import { type CommentPlan, postComment } from './comment-step.ts';
import type { Step } from './load-step.ts';
import { appendSummary, type Ended, stepOutputs, writeOutputs } from './outputs.ts';

export interface Publishing {
  env: Env;
  /** Absent: the step never came to its run. */
  step: Step | undefined;
  summary: boolean;
  /** Absent: no comment is asked for. */
  plan: CommentPlan | undefined;
  signal: AbortSignal;
}

/** What could not be published, one sentence each. */
export interface Problems {
  all: string[];
  /** The comment is among it. */
  comment: boolean;
}

/** Hands on how the run ended; one part that fails does not cost the others. Throws nothing. */
export async function publish(ended: Ended, publishing: Publishing): Promise<Problems> {
  const { env, step, summary } = publishing;
  const { outputs, too_large } = stepOutputs(ended);
  if (too_large) warning(`the output is larger than 256 KiB, so it is only in ${outputs['output-file']}`);
  const file = env['GITHUB_OUTPUT'];
  const first = [
    await attempt(() => (file ? writeOutputs(file, outputs) : undefined)),
    await attempt(() => (summary ? publishSummary(ended, env['GITHUB_STEP_SUMMARY'], step) : undefined)),
  ];
  const comment = await attempt(() => publishComment(ended, publishing));
  const all = [...first, comment].flatMap((problem) => problem ?? []);
  const fails = ended.exit_code !== 0 || all.length > 0;
  const taken = { error: fails ? 1 : 0, warning: too_large ? 1 : 0 };
  const last = await attempt(() => annotate(ended, step, taken));
  return { all: [...all, ...(last === undefined ? [] : [last])], comment: comment !== undefined };
}

/** The sentence of what went wrong, if anything. */
async function attempt(part: () => void | Promise<void>): Promise<string | undefined> {
  try {
    await part();
    return undefined;
  } catch (cause) {
    // A full disk, a file of the runner that is gone, or a comment that GitHub does not take.
    return errorText(cause);
  }
}

function publishSummary(ended: Ended, file: string | undefined, step: Step | undefined): void {
  if (!file) return;
  const summary = ended.run_dir === undefined ? '' : join(ended.run_dir, 'summary.md');
  if (step !== undefined && existsSync(summary)) appendSummary(file, readFileSync(summary, 'utf8'));
  // Whoever opens the job's page must see that a run was asked for and what became of it.
  else if (ended.result_file !== undefined) {
    const next = nextCommand(ended.outcome, { task_file: ended.result_file.task.file });
    appendSummary(file, headLine(ended.result_file, next));
  }
}

async function publishComment(ended: Ended, { env, plan, signal }: Publishing): Promise<void> {
  if (plan === undefined) return;
  const commented = await postComment(plan, ended, { env, signal });
  if (!commented.ok) throw new Error(commented.reason);
  const file = env['GITHUB_OUTPUT'];
  if (file) writeOutputs(file, { 'comment-url': commented.url });
}

const EMIT = { error, warning, notice };

function annotate({ output_text }: Ended, step: Step | undefined, taken: Taken): void {
  const map = step?.annotations === true ? step.config.task.findings : undefined;
  const output = parseJson(output_text ?? '');
  if (!map || !output.ok) return;
  const { shown, left_out } = annotationsOf(output.value, map, taken);
  for (const { level, message, place } of shown) EMIT[level](message, place);
  if (left_out === 0) return;
  notice(`${left_out} more findings are in the output; GitHub shows ten annotations of each level for a step`);
  process.stderr.write(`${left_out} more findings are in the output\n`);
}
