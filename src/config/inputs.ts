// Inputs of a task: what it declares, what the caller gave, and the values its texts see.

import { resolve } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { withinTime } from '../core/time-bound.ts';
import { type Issue, showValue } from './issues.ts';
import { pointerTo } from './pointer.ts';
import type { InputText } from './merge.ts';
import { MAX_NAMED_BYTES, type ReadResult, readDisk } from './source.ts';
import type { InputField, TaskFile } from './task-file.ts';

/** Every declared name; null: optional and not given. */
export type InputValues = Record<string, string | null>;

/** Where `@FILE` and `@-` read from. */
export interface InputSources {
  cwd: string;
  readStdin: () => Promise<ReadResult>;
}

const PATTERN_TIMEOUT_MS = 1000;

/** The given values by name; throws UsageError for unknown names, wrong forms and unreadable files. */
export async function readGivenInputs(
  declared: NonNullable<TaskFile['inputs']>,
  texts: readonly InputText[],
  sources: InputSources,
): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  const origins = new Map<string, string>();
  for (const text of texts) {
    const { name, value } = split(text, Object.keys(declared));
    if (origins.get(name) === text.origin)
      throw new UsageError(`${text.origin}: the input "${name}" is given twice, expected it once`);
    origins.set(name, text.origin);
    const read = text.reads_files ? await readValue(value, sources) : ({ ok: true, text: value } as const);
    if (!read.ok)
      throw new UsageError(`${text.origin} ${name}: cannot read ${JSON.stringify(value.slice(1))}: ${read.reason}`);
    values.set(name, read.text);
    const mistake = checkValue(declared[name] ?? {}, read.text);
    if (mistake) throw new UsageError(`${text.origin} ${name}: ${mistake}`);
  }
  return values;
}

/** Values of all declared inputs; missing required ones and defaults that break their own rules become issues. */
export function fillInputs(
  declared: NonNullable<TaskFile['inputs']>,
  givenValues: ReadonlyMap<string, string>,
): { values: InputValues; issues: Issue[] } {
  const values: InputValues = {};
  const issues: Issue[] = [];
  for (const [name, field] of Object.entries(declared)) {
    const pointer = pointerTo('/inputs', name);
    values[name] = givenValues.get(name) ?? field.default ?? null;
    const mistake = field.default === undefined ? undefined : checkValue(field, field.default);
    if (mistake) issues.push({ pointer: `${pointer}/default`, message: mistake });
    if (values[name] === null && field.required) {
      issues.push({
        pointer,
        at: 'key',
        message: `found no value for the required input "${name}", expected --input ${name}=VALUE`,
        args: `--input ${name}=VALUE`,
      });
    }
  }
  return { values, issues };
}

function split(text: InputText, names: readonly string[]): { name: string; value: string } {
  const at = text.value.indexOf('=');
  if (at < 1) throw new UsageError(`${text.origin}: found ${showValue(text.value)}, expected NAME=VALUE`);
  const name = text.value.slice(0, at).trim();
  if (!names.includes(name)) {
    const known =
      names.length > 0 ? `expected one of ${names.map((item) => `"${item}"`).join(', ')}` : 'the task declares none';
    throw new UsageError(
      `${text.origin}: found the unknown input ${showValue(name)}, ${known}${didYouMean(name, names)}`,
    );
  }
  return { name, value: text.value.slice(at + 1) };
}

/** `@FILE`, `@-`, or the value itself; `@@` stands for one `@`. The last line break of a file is not part of the value. */
async function readValue(value: string, sources: InputSources): Promise<ReadResult> {
  if (!value.startsWith('@')) return { ok: true, text: value };
  if (value.startsWith('@@')) return { ok: true, text: value.slice(1) };
  const file = value.slice(1);
  if (/^\/proc\/[^/]+\/(?!fd\/)/.test(resolve(sources.cwd, file)))
    return { ok: false, reason: 'files of /proc are not read' };
  const read = await (file === '-' ? sources.readStdin() : readDisk(resolve(sources.cwd, file), MAX_NAMED_BYTES));
  return read.ok ? { ok: true, text: read.text.replace(/\r?\n$/, '') } : read;
}

function checkValue(field: InputField, value: string): string | undefined {
  if (value.includes('\0')) return 'found a NUL character, expected a text without one';
  if (field.enum && !field.enum.includes(value)) {
    const list = field.enum.map((item) => showValue(item)).join(', ');
    return `found ${showValue(value)}, expected one of ${list}${didYouMean(value, field.enum)}`;
  }
  if (field.pattern !== undefined && !matches(field.pattern, value)) {
    return `found ${showValue(value)}, expected a text that matches ${field.pattern}`;
  }
  return undefined;
}

/** A pattern that takes too long on a value does not match it: the value may be a stranger's. */
function matches(pattern: string, value: string): boolean {
  const result = withinTime(PATTERN_TIMEOUT_MS, () => new RegExp(pattern, 'u').test(value));
  return result.ok && result.value;
}
