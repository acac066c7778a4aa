// A file of rows: one run of a task for each line of {name, workspace, inputs}.

import { shortened } from '../core/graphemes.ts';
import { UsageError } from '../core/errors.ts';
import { isJsonObject, parseJson, type JsonValue } from '../core/json.ts';
import { didYouMean } from '../core/nearest.ts';

export interface Row {
  name: string;
  /** Counted from 1. */
  line: number;
  /** For messages: "rows.jsonl:3". */
  origin: string;
  workspace?: string;
  inputs: Record<string, string>;
}

const KEYS = ['name', 'workspace', 'inputs'];
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** The rows of a text, and one sentence with its line for each that is none; empty lines are passed over, a file without any line is a problem. */
export function readRows(text: string, file: string): { rows: Row[]; problems: string[] } {
  const rows: Row[] = [];
  const problems: string[] = [];
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const seen = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const origin = `${file}:${index + 1}`;
    try {
      const row = readRow(line, { origin, line: index + 1 });
      const earlier = seen.get(row.name);
      if (earlier !== undefined) throw new UsageError(`the name "${row.name}" stands on line ${earlier} already`);
      seen.set(row.name, row.line);
      rows.push(row);
    } catch (error) {
      // UsageError: this line is none; the others are still worth running.
      if (!(error instanceof UsageError)) throw error;
      problems.push(`${origin}: ${error.message}`);
    }
  }
  // Most often what should have written it failed: nothing to do must not look like all is well.
  if (seen.size === 0 && problems.length === 0) problems.push(`${file} holds no row; expected one on each line`);
  return { rows, problems };
}

function readRow(text: string, { origin, line }: { origin: string; line: number }): Row {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new UsageError('found no JSON, expected an object {"name", "workspace", "inputs"} on one line');
  const { value } = parsed;
  if (!isJsonObject(value)) throw new UsageError(`found ${shown(value)}, expected an object`);
  const strange = Object.keys(value).find((key) => !KEYS.includes(key));
  if (strange !== undefined) {
    throw new UsageError(
      `found the unknown key ${shown(strange)}, expected ${KEYS.join(', ')}${didYouMean(strange, KEYS)}`,
    );
  }
  const { name = `line-${line}`, workspace, inputs = {} } = value;
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new UsageError(`name: found ${shown(name)}, expected a text of letters, digits, ".", "_" and "-"`);
  }
  if (workspace !== undefined && (typeof workspace !== 'string' || workspace === '')) {
    throw new UsageError(`workspace: found ${shown(workspace)}, expected a folder`);
  }
  return { name, line, origin, ...(workspace === undefined ? {} : { workspace }), inputs: readInputs(inputs) };
}

function readInputs(value: JsonValue): Record<string, string> {
  if (!isJsonObject(value)) throw new UsageError(`inputs: found ${shown(value)}, expected an object of values`);
  const entries = Object.entries(value).map(([name, item]): [string, string] => {
    if (typeof item === 'string') return [name, item];
    if (typeof item === 'number' || typeof item === 'boolean') return [name, String(item)];
    throw new UsageError(`inputs.${name}: found ${shown(item)}, expected a text, a number, true or false`);
  });
  return Object.fromEntries(entries);
}

function shown(value: JsonValue): string {
  const text = JSON.stringify(value);
  return shortened(text, 80);
}
