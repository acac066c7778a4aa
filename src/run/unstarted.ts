// A run that ended before it began: the task cannot be read, a flag is wrong. It has a result like any other.

import { EMPTY_STATE } from '../agent/state.ts';
import { createUsageMeter } from '../subscribers/usage-meter.ts';
import { writeAtomically } from './artifacts.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { buildResult, type ResultFile } from './result.ts';
import { createRunId, openRunFolder } from './run-folder.ts';
import { runnerFacts } from './version.ts';
import type { TaskConfig } from '../core/config.ts';
import type { RunOutcome } from '../core/outcome.ts';

export interface UnstartedFacts {
  outcome: RunOutcome;
  message: string;
  /** As given on the command line; '' when none was. */
  task_file: string;
  /** Absent: "task". */
  name?: string;
  limits: TaskConfig['limits'];
}

/** The result of a run of which nothing but its end is known. */
export function unstartedResult({ outcome, message, task_file, name = 'task', limits }: UnstartedFacts): ResultFile {
  const now_ms = SYSTEM_CLOCK.now();
  const run_id = createRunId({ now_ms, attempt: 1, random: Math.random });
  return buildResult({
    run_id,
    outcome,
    message,
    state: EMPTY_STATE,
    task: { ...unknownTask(task_file, limits), name },
    usage: createUsageMeter().report(),
    runner: runnerFacts({ mode: 'auto', active: 'none', detail: 'the run ended before the sandbox was chosen' }),
    started_ms: now_ms,
    finished_ms: now_ms,
    files: [],
    problems: [],
  });
}

/**
 * Puts it into the folder given with `--out`, in the place of an earlier run's files: an old success must not stand
 * there. With `results`, into a new folder below it. The answer is the folder.
 */
export function recordUnstarted(result: ResultFile, place: { out?: string; results?: string; cwd: string }): string {
  const folder = openRunFolder({ ...place, name: result.task.name, run_id: result.run_id });
  try {
    const artifacts = { result: 'result.json', transcript: 'transcript.jsonl' };
    writeAtomically(folder.dir, 'result.json', `${JSON.stringify({ ...result, artifacts }, null, 2)}\n`);
    return folder.dir;
  } finally {
    folder.release();
  }
}

function unknownTask(file: string, limits: TaskConfig['limits']): TaskConfig {
  return {
    name: 'task',
    file,
    files: [],
    sha256: '',
    ref: null,
    inputs: {},
    system: null,
    prompts: [],
    context: [],
    model: { provider: 'anthropic', id: '', max_tokens: 0, tool_protocol: 'native', fallback: [] },
    tools: [],
    custom_tools: [],
    sandbox: { mode: 'auto', network: false, env: [], read: [], write: [], git_write: false, allow_untrusted: false },
    limits,
    output: { repair_attempts: 0 },
    verify: [],
    redact: [],
  };
}
