// What the parts of a task have in common while they are built: the file, its issues, the values its texts see.

import { dirname, join, resolve } from 'node:path';
import { formatPlace, UsageError } from '../core/errors.ts';
import type { JsonValue } from '../core/json.ts';
import { beginsWithValue, isTemplate, renderTemplate } from '../core/template.ts';
import type { InputValues } from './inputs.ts';
import { type Issue, issuesError, showValue } from './issues.ts';
import type { ListFolder } from './list-folder.ts';
import { parseSource } from './parse.ts';
import { type ReadFile, type Source, sourceOf } from './source.ts';
import type { TaskFile, TextField } from './task-file.ts';

export interface Building {
  source: Source;
  task: TaskFile;
  /** Absolute folder that file names of the task are relative to. */
  folder: string;
  read: ReadFile;
  list: ListFolder;
  inputs: InputValues;
  /** Mistakes so far; the task is refused with all of them. */
  issues: Issue[];
}

/** Throws what was found so far, if anything. */
export async function stopAtIssues(building: Pick<Building, 'source' | 'issues'>): Promise<void> {
  if (building.issues.length > 0) throw await issuesError(building.source, building.issues);
}

/** A file that the task names; undefined after noting that it cannot be read. Messages name it as seen from the task's own path. */
export async function readNamed(building: Building, name: string, pointer: string): Promise<Source | undefined> {
  const path = resolve(building.folder, name);
  const read = await building.read(path);
  const shown = building.source.file === '-' ? name : join(dirname(building.source.file), name);
  if (!read.ok) {
    building.issues.push({
      pointer,
      message: `found ${showValue(name)}, which cannot be read: ${read.reason} (${path})`,
    });
    return undefined;
  }
  return sourceOf(shown, read.text);
}

/** A text or the contents of the file it names, interpolated. */
export async function buildText(building: Building, field: TextField, pointer: string): Promise<string> {
  if (typeof field === 'string') return interpolate(building, field, pointer);
  const source = await readNamed(building, field.file, `${pointer}/file`);
  if (!source) return '';
  const rendered = await renderTemplate(source.text, { inputs: building.inputs });
  if (rendered.ok) return rendered.text;
  const { line, column, message } = rendered.error;
  const by = await namedBy(building, `${pointer}/file`);
  throw new UsageError(`${message}${by}`, { place: { file: source.file, line, column } });
}

/** The value of a JSON or YAML file that the task names; its mistakes are told with both files. */
export async function parseNamed(building: Building, source: Source, pointer: string): Promise<JsonValue> {
  try {
    return await parseSource(source);
  } catch (error) {
    // UsageError: a mistake in the named file.
    if (!(error instanceof UsageError) || !error.place) throw error;
    const message = error.message.slice(formatPlace(error.place).length + 2);
    throw new UsageError(`${message}${await namedBy(building, pointer)}`, { place: error.place });
  }
}

/** " (named by task.json:5:12 (/output/schema))" */
export async function namedBy(building: Building, pointer: string): Promise<string> {
  const { place } = await issuesError(building.source, [{ pointer, message: '' }]);
  return place ? ` (named by ${formatPlace(place)})` : '';
}

/** One text of the task file with its values. */
export async function interpolate(building: Building, text: string, pointer: string): Promise<string> {
  const rendered = await renderTemplate(text, { inputs: building.inputs });
  if (rendered.ok) return rendered.text;
  const { line, column, message } = rendered.error;
  building.issues.push({ pointer, message: `${message} (line ${line}, column ${column} of the text)` });
  return '';
}

/** One argument with its values. A value may fill an argument but never turn it into an option: none begins with `refused`. */
export async function interpolateArgument(
  building: Building,
  text: string,
  pointer: string,
  refused = '-',
): Promise<string> {
  if (!isTemplate(text)) return text;
  const before = building.issues.length;
  const argument = await interpolate(building, text, pointer);
  if (building.issues.length > before) return '';
  if (beginsWithValue(text) && argument !== '' && refused.includes(argument.charAt(0))) {
    const message = `found ${showValue(argument)} after interpolation of ${showValue(text)}, expected a value that does not begin with "${argument.charAt(0)}": a value never becomes an option`;
    building.issues.push({ pointer, message });
  } else if (argument.includes('\0')) {
    building.issues.push({
      pointer,
      message: 'found a NUL character after interpolation, expected an argument without one',
    });
  }
  return argument;
}

/** A list of arguments, each interpolated on its own: a value is never split. */
export async function interpolateArguments(
  building: Building,
  texts: readonly string[],
  pointer: string,
  refused = '-',
): Promise<string[]> {
  const built: string[] = [];
  for (const [index, text] of texts.entries()) {
    built.push(await interpolateArgument(building, text, `${pointer}/${index}`, refused));
  }
  return built;
}
