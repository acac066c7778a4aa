import readingPrograms from '../reading-programs.json' with { type: 'json' };
import { isReadingGit } from './git.ts';
import { inspect } from './inspect.ts';
import type { Arg } from './judgement.ts';

const READING: ReadonlySet<string> = new Set(readingPrograms);

/** Whether a command is known to change nothing: a known reader, nothing dangerous about it, and the same for what it runs. */
export function isReading(args: readonly Arg[]): boolean {
  const program = args[0];
  if (program?.kind !== 'literal' || !READING.has(program.text)) return false;
  const { findings, wrapped, script } = inspect(args);
  if (script !== undefined) return false;
  // What only reads another place is still a read; what the file rules let it write is not.
  if (findings.some((finding) => finding.checks?.every((check) => check.access === 'read') !== true)) return false;
  if (program.text === 'git' && !isReadingGit(args)) return false;
  return wrapped.every((list) => isReading(list.args));
}
