// TASK... of a command line -> task files. We expand globs ourselves, so that quoted ones and every shell mean the same.

import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { isLiteral } from '../core/globs.ts';
import { matchFiles } from '../workspace/match-files.ts';

export interface Expanded {
  /** Without repetition, in an order that does not depend on that of the words. */
  files: string[];
  /** What matched nothing or is no task. */
  problems: string[];
}

/** The task files that words name; `-` stays what it is, and a file that is missing is left for its reader to tell. */
export async function expandTasks(words: readonly string[], cwd: string): Promise<Expanded> {
  const files = new Map<string, string>();
  const problems: string[] = [];
  for (const word of words) {
    const found = await filesOf(word, cwd);
    if ('problem' in found) problems.push(found.problem);
    else for (const file of found.files) files.set(file === '-' ? file : resolve(cwd, file), file);
  }
  const sorted = [...files].sort(([one], [other]) => (one < other ? -1 : 1));
  return { files: sorted.map(([, file]) => file), problems };
}

async function filesOf(word: string, cwd: string): Promise<{ files: string[] } | { problem: string }> {
  if (word === '-') return { files: [word] };
  const stats = lstatSync(resolve(cwd, word), { throwIfNoEntry: false });
  const shown = JSON.stringify(word);
  if (stats?.isDirectory()) {
    return { problem: `${shown} is a folder; name task files, or a glob such as "${word.replace(/\/+$/, '')}/*.json"` };
  }
  // A file may be called like a pattern.
  if (stats || isLiteral(word)) return { files: [word] };
  const files = await matchFiles(word, cwd);
  return files.length > 0 ? { files } : { problem: `the glob ${shown} matches no file below ${cwd}` };
}
