// `init [DIR]`: files to start from. What is already there stays untouched.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { errorText, UsageError } from '../core/errors.ts';
import { REVIEW_FILES, type TemplateFile } from './templates/review.ts';

/** Writes the files that do not exist yet and says of each whether it did; throws UsageError when the folder cannot be written. */
export function initFolder(cwd: string, dir: string | undefined): string {
  const lines = REVIEW_FILES.map((file) => {
    const path = join(dir ?? '.', file.path);
    return writeNew(resolve(cwd, path), path, file)
      ? `created ${path}`
      : `kept ${path}, which exists already; remove it first to have it written anew`;
  });
  const task = join(dir ?? '.', 'agent-run/review.json');
  return `${lines.join('\n')}\nnext: agent-run validate ${task}\n`;
}

function writeNew(absolute: string, path: string, file: TemplateFile): boolean {
  try {
    mkdirSync(dirname(absolute), { recursive: true });
    writeFileSync(absolute, file.text, { flag: 'wx' }); // also refuses a link that leads elsewhere
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    // Everything else is a folder that is none or may not be written.
    throw new UsageError(`cannot write ${JSON.stringify(path)}: ${errorText(error)}`, { cause: error });
  }
}
