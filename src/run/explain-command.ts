import { resolve } from 'node:path';
import { explainCommand } from '../policy/policy.ts';
import { createFiles } from '../workspace/files.ts';
import type { RunConfig } from '../core/config.ts';

/** The verdict on a shell text and on each simple command in it; nothing runs. Throws UsageError for a rule that cannot be read. */
export async function explainShell(
  config: RunConfig,
  text: string,
  cwd = process.cwd(),
): ReturnType<typeof explainCommand> {
  const { task } = config;
  const protectedFiles = task.file === '-' ? [] : [resolve(cwd, task.file)];
  const files = await createFiles(config.workspace, { read_only: protectedFiles });
  return explainCommand({ rules: task.tools, files, protectedFiles }, text);
}
