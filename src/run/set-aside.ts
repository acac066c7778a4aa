// Files that tell how a run ended, when it goes on: they are not its end any more, and not yet lost.

import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { IoError, errorText } from '../core/errors.ts';
import { BODIES, RUN_FILES, SET_ASIDE, TRANSCRIPT } from './run-folder.ts';

/** The result first: without it nobody takes the others for a run's that has ended. */
const ENDINGS = RUN_FILES.filter((name) => name !== TRANSCRIPT && name !== BODIES);

/**
 * Renames a run's files to `NAME.before-resume`, so that a resume that dies leaves no verdict that is not its own. The
 * answer puts them back. Throws IoError, and then all are where they were.
 */
export function setAside(dir: string): () => void {
  const moved: string[] = [];
  const restore = (): void => {
    for (const name of moved.splice(0).toReversed()) renameSync(aside(dir, name), join(dir, name));
  };
  try {
    for (const name of ENDINGS) {
      if (!existsSync(join(dir, name))) continue;
      renameSync(join(dir, name), aside(dir, name));
      moved.push(name);
    }
  } catch (error) {
    restore();
    throw new IoError(`cannot set the run's earlier files in ${dir} aside: ${errorText(error)}`, { cause: error });
  }
  return restore;
}

/** Removes what was set aside, once the run has an end again; a patch only when there is a new one in its place. */
export function dropAside(dir: string): void {
  if (!existsSync(join(dir, 'result.json'))) return;
  for (const name of ENDINGS) {
    if (name === 'changes.patch' && !existsSync(join(dir, name))) continue;
    try {
      rmSync(aside(dir, name), { force: true });
    } catch {
      // EACCES, EISDIR: a copy that stays is named as what it is.
    }
  }
}

function aside(dir: string, name: string): string {
  return join(dir, `${name}${SET_ASIDE}`);
}
