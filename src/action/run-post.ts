// The post stage: after a step that ended by itself there is nothing to do; after one that was killed it cleans up.

import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { warning } from '@actions/core';
import type { Env } from '../config/merge.ts';
import { errorText } from '../core/errors.ts';
import { isJsonObject, parseJson } from '../core/json.ts';
import { logLine } from '../core/sanitise.ts';
import { type Begun, cleanUpKilled } from '../run/killed.ts';
import { STATE, TEMP_PREFIX } from './guard.ts';
import { appendSummary } from './outputs.ts';

/** Cleans up after a main stage that was killed; a post stage fails no job, so what goes wrong is a warning. */
export async function runPost(env: Env): Promise<void> {
  const begun = readBegun(env[`STATE_${STATE.run}`]);
  if (!begun || env[`STATE_${STATE.ended}`] === 'true') return;
  try {
    const problems = await cleanUpKilled(begun);
    const left = problems.length === 0 ? '' : `; left: ${problems.join('; ')}`;
    warning(logLine(`agent-run was killed; its processes and temporary files were cleaned up${left}`));
    const summary = join(begun.run_dir, 'summary.md');
    const file = env['GITHUB_STEP_SUMMARY'];
    if (file && existsSync(summary)) appendSummary(file, readFileSync(summary, 'utf8'));
  } catch (cause) {
    // A transcript that cannot be read, a folder that is gone.
    warning(logLine(`agent-run was killed and could not be cleaned up: ${errorText(cause)}`));
  }
}

/** What main saved; only its own shape is acted upon, since folders are removed by it. */
function readBegun(text: string | undefined): Begun | undefined {
  const parsed = parseJson(text ?? '');
  if (!parsed.ok || !isJsonObject(parsed.value)) return undefined;
  const { run_dir, workspace, task_file, marker, temp } = parsed.value;
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
  if (!isText(run_dir) || !isText(workspace) || !isText(task_file) || !isText(marker)) return undefined;
  const isOurs = isText(temp) && basename(temp).startsWith(TEMP_PREFIX);
  return { run_dir, workspace, task_file, marker, temp: isOurs ? temp : null };
}
