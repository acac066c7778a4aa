import { homedir } from 'node:os';
import { mergeOptions } from '../config/merge.ts';
import { untrustedReason } from '../config/trust.ts';
import { UsageError } from '../core/errors.ts';
import { toolEnvironment } from '../workspace/environment.ts';
import { openRepository } from '../workspace/git-repository.ts';
import { TRANSCRIPT } from './run-folder.ts';
import type { RunStart } from '../core/events.ts';
import type { Env } from './place.ts';

const TIMEOUT_MS = 10_000;

/** Whether a run that goes on is untrusted: because it was, or because it is now. */
export function staysUntrusted({ untrusted }: RunStart, env: Env): boolean {
  return untrusted || untrustedReason(env) !== undefined || mergeOptions({}, env).untrusted;
}

/** Throws UsageError for a folder whose `file` came with the checkout: a stranger may have written what stands in it. */
export async function refuseCommitted(run_dir: string, env: Env, file = TRANSCRIPT): Promise<void> {
  const toolEnv = toolEnvironment({ source: env, names: [], home: homedir(), workspace: run_dir });
  const opened = await openRepository({ cwd: run_dir, env: toolEnv, timeout_ms: TIMEOUT_MS });
  if (!opened.ok) return;
  const listed = await opened.repository.run(['ls-files', '-z', '--', file]);
  if (listed.code === 0 && listed.stdout.length === 0) return;
  throw new UsageError(
    `${run_dir} is part of the checkout, which a stranger may have written, and the run is untrusted; name the folder that a run of yours made`,
  );
}

/** The commit a workspace is at; null without one. */
export async function headOf(workspace: string, env: Env): Promise<string | null> {
  const toolEnv = toolEnvironment({ source: env, names: [], home: homedir(), workspace });
  const opened = await openRepository({ cwd: workspace, env: toolEnv, timeout_ms: TIMEOUT_MS });
  if (!opened.ok) return null;
  const head = await opened.repository.run(['rev-parse', '--verify', '--quiet', 'HEAD']);
  return head.stdout.toString('utf8').trim() || null;
}
