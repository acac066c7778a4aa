import type { BuiltinToolName } from '../core/config.ts';
import type { Tool } from '../core/ports.ts';
import { createBash, type ProcessParts } from './bash.ts';
import { createEditFile } from './edit-file.ts';
import { createGit } from './git.ts';
import { createGlob } from './glob.ts';
import { createGrep } from './grep.ts';
import { createReadFile, type ReadFileParts } from './read-file.ts';
import { createWriteFile } from './write-file.ts';

export interface BuiltinParts extends ProcessParts, ReadFileParts {}

/** Order of the definitions in a request, whatever the order in the task: a prompt cache compares bytes. */
const MAKERS: readonly (readonly [BuiltinToolName, (parts: BuiltinParts) => Tool])[] = [
  ['read_file', createReadFile],
  ['glob', (parts) => createGlob(parts.files)],
  ['grep', (parts) => createGrep(parts.files)],
  ['write_file', (parts) => createWriteFile(parts.files)],
  ['edit_file', (parts) => createEditFile(parts.files)],
  ['bash', createBash],
  ['git', createGit],
];

/** The built-in tools of the given names, always in the same order. */
export function createBuiltinTools(names: readonly string[], parts: BuiltinParts): Tool[] {
  return MAKERS.filter(([name]) => names.includes(name)).map(([, make]) => make(parts));
}
