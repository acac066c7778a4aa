// What a command sees of the process, so that nothing else asks for it.

import type { Env } from '../config/merge.ts';
import type { Output } from './streams.ts';

export interface World {
  env: Env;
  cwd: string;
  stdout: Output;
  stderr: Output;
  /** Read only when the command line names it. */
  stdin: AsyncIterable<unknown>;
}

/** True where stdout and stderr are read for workflow commands. */
export function inActions(env: Env): boolean {
  return env['GITHUB_ACTIONS'] === 'true';
}
