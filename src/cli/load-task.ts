// TASK of a command line -> RunConfig.

import { loadRun } from '../config/load.ts';
import type { RunOptions } from '../config/merge.ts';
import { readStream } from '../config/source.ts';
import type { RunConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { commandHint } from './arguments.ts';
import type { World } from './world.ts';

/** The configuration of one task file. */
export async function loadTask(file: string, options: RunOptions, world: World): Promise<RunConfig> {
  const { env, cwd, stdin } = world;
  try {
    return await loadRun({
      file,
      options,
      env,
      cwd,
      readStdin: (max_bytes) => readStream(stdin, max_bytes),
      openCommit: async (ref, folder) => {
        const { openCommit } = await import('../run/task-ref.ts');
        return openCommit(ref, { cwd: folder, env });
      },
    });
  } catch (error) {
    // A command that is spelt wrong is taken for a task that does not exist.
    const hint = error instanceof UsageError && error.message.includes('no such file') ? commandHint(file) : '';
    throw hint && error instanceof UsageError ? new UsageError(`${error.message}${hint}`) : error;
  }
}
