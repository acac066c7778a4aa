import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../core/errors.ts';
import type { RUN_FILES } from './run-folder.ts';

export type ArtifactName = Exclude<(typeof RUN_FILES)[number], 'transcript.jsonl' | 'verbose.log'>;

type Whole = string | Uint8Array;
/** Makes a whole file; null: this run has no such file. */
export type Content = () => Whole | null | Promise<Whole | null>;

export interface Written {
  /** Names of the files that stand in the folder now. */
  written: ArtifactName[];
  /** One sentence for each that could not be made or written. */
  problems: string[];
}

/**
 * Writes a run's files, each whole or not at all, one failing without the others; `result.json` comes last,
 * knows what became of the rest, and is always attempted. Does not throw.
 */
export async function writeArtifacts(
  dir: string,
  contents: Partial<Record<Exclude<ArtifactName, 'result.json'>, Content>>,
  result: (sofar: Written) => string,
): Promise<Written> {
  const begun: Attempt[] = [];
  const entries = Object.entries(contents) as [ArtifactName, Content][]; // keys of the parameter's own type
  for (const [name, content] of entries) begun.push(await writeOne(dir, name, content));
  const state: Written = { written: [], problems: [] };
  for (const one of begun) await note(one, state);
  const before: Written = { written: [...state.written, 'result.json'], problems: [...state.problems] };
  await note(await writeOne(dir, 'result.json', () => result(before)), state);
  return state;
}

/** A file on its way: true once it stands there, false when there is none; rejected when it could not be written. */
interface Attempt {
  name: ArtifactName;
  done: Promise<boolean>;
}

async function note({ name, done }: Attempt, state: Written): Promise<void> {
  try {
    if (await done) state.written.push(name);
  } catch (error) {
    // A full disk, a folder that is gone, or a bug in what makes the text: the other files are still worth having.
    state.problems.push(`cannot write ${name}: ${errorText(error)}`);
  }
}

/** Makes the content and begins to write it: the disk takes as long for one file as for all, so none waits for another. */
async function writeOne(dir: string, name: ArtifactName, content: Content): Promise<Attempt> {
  let done: Promise<boolean>;
  try {
    const whole = await content();
    // A resumed run may find the file of its earlier segment: what this one has not, must not stay.
    done = whole === null ? rm(join(dir, name), { force: true }).then(() => false) : replace(dir, name, whole);
  } catch (error) {
    done = Promise.reject(error instanceof Error ? error : new Error(errorText(error))); // told by `note`
  }
  done.catch(() => {});
  return { name, done };
}

async function replace(dir: string, name: string, whole: Whole): Promise<true> {
  const temporary = temporaryName(dir, name);
  const file = await open(temporary, 'wx', 0o600);
  try {
    try {
      await file.writeFile(typeof whole === 'string' ? whole.toWellFormed() : whole);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(dir, name));
  } catch (error) {
    // Whatever went wrong, half a file is of no use; the caller says what it was.
    await rm(temporary, { force: true });
    throw error;
  }
  return true;
}

function temporaryName(dir: string, name: string): string {
  return join(dir, `.${name}.${randomBytes(3).toString('hex')}.tmp`);
}

/** Replaces a file in one step, so that a reader and a crash see the old or the new one, never half of it. */
export function writeAtomically(dir: string, name: string, whole: Whole): void {
  const temporary = temporaryName(dir, name);
  const descriptor = openSync(temporary, 'wx', 0o600);
  try {
    try {
      writeFileSync(descriptor, typeof whole === 'string' ? whole.toWellFormed() : whole);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, join(dir, name));
  } catch (error) {
    // Whatever went wrong, half a file is of no use; the caller says what it was.
    rmSync(temporary, { force: true });
    throw error;
  }
}
