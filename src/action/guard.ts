// What stands ready for the case that the runner kills the step: outputs that look no better than that, what the post
// stage needs to clean up, and last words for the second signal.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { error, saveState } from '@actions/core';
import type { Env } from '../config/merge.ts';
import { isJsonObject, type JsonObject, parseJson } from '../core/json.ts';
import { logLine } from '../core/sanitise.ts';
import { type Begun, newMarker } from '../run/killed.ts';
import type { Step } from './load-step.ts';
import { type Ended, stepOutputs, textOf, writeOutputs } from './outputs.ts';

export interface Guard {
  /** Called before the run; the run's environment, in which its processes are marked. */
  begin(step: Step): Env;
  /** Called when everything is handed on. */
  end(): void;
}

/** Names of what main saves for the post stage. */
export const STATE = { run: 'run', ended: 'ended' } as const;

export const TEMP_PREFIX = 'agent-run-step-';

/** Until the run tells how it ended, it is one that was killed. */
const KILLED: Ended = {
  outcome: { reason: 'io_error', detail: 'killed' },
  exit_code: 1,
  message: 'the step was killed before its run ended',
};

/** Guards a step against its own kill; does nothing before `begin`. */
export function createGuard(env: Env, cwd: string): Guard {
  const file = env['GITHUB_OUTPUT'];
  let begun: Begun | undefined;
  let ended = false;
  const save = (name: string, value: unknown): void => {
    if (env['GITHUB_STATE']) saveState(name, value);
  };
  process.on('exit', () => {
    if (!begun || ended) return;
    lastWords(begun.run_dir, file);
    removeTemp(begun);
  });
  return {
    begin({ config, env: runEnv }) {
      const run_dir = resolve(cwd, config.out ?? '.');
      begun = {
        run_dir,
        workspace: config.workspace,
        task_file: config.task.file,
        marker: newMarker(),
        temp: ownTemp(env),
      };
      save(STATE.run, begun);
      const { outputs } = stepOutputs({ ...KILLED, run_dir });
      if (file) writeOutputs(file, { ...outputs, transcript: join(run_dir, 'transcript.jsonl') });
      return { ...runEnv, [begun.marker]: '1' };
    },
    end() {
      ended = true;
      if (begun) removeTemp(begun);
      save(STATE.ended, 'true');
    },
  };
}

/** Where this process and the run make their temporary folders, so that none of them can be missed. */
function ownTemp(env: Env): string | null {
  // Without a folder of the runner's the run folder itself is a temporary one, and stays.
  if (!env['RUNNER_TEMP']) return null;
  const folder = mkdtempSync(join(tmpdir(), TEMP_PREFIX));
  process.env['TMPDIR'] = folder;
  return folder;
}

function removeTemp({ temp }: Begun): void {
  try {
    if (temp !== null) rmSync(temp, { recursive: true, force: true });
  } catch {
    // EACCES, ENOTEMPTY: something in it cannot be removed, which is no fault of the step.
  }
}

/** A second signal ends the process at once; the run has written its result by then. */
function lastWords(run_dir: string, file: string | undefined): void {
  const result = readResult(run_dir);
  if (!result || !file) return;
  const [status, reason, code, message] = ['status', 'exit_reason', 'exit_code', 'message'].map((name) =>
    textOf(result[name]),
  );
  const { outputs } = stepOutputs({ ...KILLED, run_dir, result });
  const told = { status: status ?? '', 'exit-reason': reason ?? '', 'exit-code': code ?? '' };
  writeOutputs(file, { ...outputs, ...told });
  error(logLine(message ?? ''), { title: `agent-run: ${reason} (exit ${code})` });
}

function readResult(run_dir: string): JsonObject | undefined {
  try {
    const result = parseJson(readFileSync(join(run_dir, 'result.json'), 'utf8'));
    return result.ok && isJsonObject(result.value) ? result.value : undefined;
  } catch {
    return undefined; // ENOENT: the end came before the result; what was handed on at the start stands
  }
}
