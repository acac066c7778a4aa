import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { BATCH_OPTIONS } from '../config/options.ts';
import { isLiteral } from '../core/globs.ts';
import type { Invocation } from './invocation.ts';

/** Whether a command line asks for several runs: more than one word, a glob, or an option of a batch. */
export function isBatch({ positionals, flags }: Invocation, cwd: string): boolean {
  const [word] = positionals;
  if (positionals.length > 1 || Object.keys(BATCH_OPTIONS).some((name) => name in flags)) return true;
  if (word === undefined || word === '-' || isLiteral(word)) return false;
  return lstatSync(resolve(cwd, word), { throwIfNoEntry: false }) === undefined;
}
