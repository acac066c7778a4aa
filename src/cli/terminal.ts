// What stderr is good for: colours, and lines that are redrawn.

import type { RunOptions } from '../config/merge.ts';
import { liveOn, type LiveArea } from '../run/watchers.ts';
import type { World } from './world.ts';

/** `--color`, else what the terminal and NO_COLOR say. */
export function wantsColor(options: RunOptions, { env, stderr }: World): boolean {
  if (options.color !== 'auto') return options.color === 'always';
  return stderr.is_terminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** Lines redrawn in place on a terminal that a person looks at; a log gets plain lines, and so does who asked for all of them. */
export function liveArea({ quiet, verbose }: RunOptions, { env, stderr }: World): LiveArea | undefined {
  const terminal = stderr.is_terminal && env['TERM'] !== 'dumb' && !env['CI'];
  if (!terminal || quiet || verbose) return undefined;
  return liveOn({ write: (text) => stderr.write(text), columns: () => stderr.columns() });
}
