import table from '../danger-table.json' with { type: 'json' };
import type { ProgramEntry } from './danger-types.ts';

// The shape of the file is checked by a test, entry by entry.
const ENTRIES: readonly ProgramEntry[] = table as readonly ProgramEntry[];
const BY_NAME = new Map(ENTRIES.flatMap((entry) => entry.names.map((name) => [name, entry] as const)));
const VERSIONED =
  /^(python|pypy|perl|ruby|php|lua|node|nodejs|pip|gcc|g\+\+|clang|clang\+\+|tclsh|bash|ksh|zsh|awk|vim|pytest|rustc|java)[-.\d]+$/;

/** The last component of a program's path, which is what the table knows it by. */
export function programName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}

/** The table's entry for a program name or path, also when it carries a version as in `python3.12`. */
export function findEntry(program: string): ProgramEntry | undefined {
  const name = programName(program);
  const entry = BY_NAME.get(name);
  if (entry !== undefined) return entry;
  const base = VERSIONED.exec(name.replace(/\.(?:exe|cmd)$/, ''))?.[1];
  return base === undefined ? undefined : BY_NAME.get(base);
}

/** All entries, for tests and for the documentation. */
export function dangerEntries(): readonly ProgramEntry[] {
  return ENTRIES;
}
