// What a step hands on: output variables and the step summary, in the files that the runner names.

import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { type RunOutcome, runStatus } from '../core/outcome.ts';
import { markdownCut } from '../core/sanitise.ts';
import type { ResultFile } from '../run/result.ts';

export const OUTPUT_NAMES = [
  'status',
  'exit-reason',
  'exit-code',
  'limit-reached',
  'output',
  'output-file',
  'run-dir',
  'transcript',
  'usage-file',
  'total-input-tokens',
  'total-output-tokens',
  'last-input-tokens',
  'cost-usd',
  'turns',
  'comment-url',
] as const;
export type OutputName = (typeof OUTPUT_NAMES)[number];
/** Every output has a value; '' is none. */
export type StepOutputs = Record<OutputName, string>;

/** How the run ended, as far as it came: no folder, no result and no output when it never began. */
export interface Ended {
  outcome: RunOutcome;
  exit_code: number;
  message: string;
  run_dir?: string;
  result?: JsonObject;
  /** Also there when the run never began. */
  result_file?: ResultFile;
  output_text?: string | null;
}

/** A larger output is left to its file: the runner holds outputs in memory and in the job's API. */
export const MAX_OUTPUT_BYTES = 256 * 1024;
/** GitHub drops a summary above 1 MiB. */
export const MAX_SUMMARY_BYTES = 1_000_000;

/** The step's outputs; `too_large`: the output is in its file only. */
export function stepOutputs(ended: Ended): { outputs: StepOutputs; too_large: boolean } {
  const { result = {}, run_dir, output_text } = ended;
  const usage = isJsonObject(result['usage']) ? result['usage'] : {};
  const too_large = Buffer.byteLength(output_text ?? '') > MAX_OUTPUT_BYTES;
  const file = (...names: string[]): string => {
    const paths = run_dir === undefined ? [] : names.map((name) => join(run_dir, name));
    return paths.find((path) => existsSync(path)) ?? '';
  };
  const outputs: StepOutputs = {
    status: runStatus(ended.outcome),
    'exit-reason': ended.outcome.reason,
    'exit-code': String(ended.exit_code),
    'limit-reached': limitName(result['limit_reached']),
    output: too_large ? '' : (output_text ?? ''),
    'output-file': file('output.json', 'output.md'),
    'run-dir': run_dir ?? '',
    transcript: file('transcript.jsonl'),
    'usage-file': file('usage.json'),
    'total-input-tokens': textOf(usage['total_input_tokens']),
    'total-output-tokens': textOf(usage['total_output_tokens']),
    'last-input-tokens': textOf(usage['last_input_tokens']),
    'cost-usd': textOf(usage['cost_usd']),
    turns: textOf(result['turns']),
    'comment-url': '',
  };
  return { outputs, too_large };
}

/** A text or a number as it is printed; '' for anything else. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function limitName(value: JsonValue | undefined): string {
  return isJsonObject(value) ? textOf(value['reason']) : textOf(value);
}

/** Appends outputs at once; a value cannot end its own text, since the delimiter is random and not part of it. */
export function writeOutputs(file: string, outputs: Partial<StepOutputs>): void {
  const texts = OUTPUT_NAMES.flatMap((name) => {
    const value = outputs[name];
    if (value === undefined) return [];
    const delimiter = `agent_run_${randomUUID()}`;
    if (value.includes(delimiter)) throw new Error('a random delimiter stands in the value it delimits');
    return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
  });
  appendFileSync(file, texts.join(''));
}

const CUT_NOTE = '_The rest is left out; the whole stands in summary.md of the run folder._';

/** Appends the summary, cut so that the whole file stays within what GitHub takes; a full file stays as it is. */
export function appendSummary(file: string, summary: string, max_bytes = MAX_SUMMARY_BYTES): void {
  const present = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const left = max_bytes - present;
  const text = markdownCut(`${summary.toWellFormed().trimEnd()}\n`, left, CUT_NOTE);
  if (Buffer.byteLength(text) <= left) appendFileSync(file, text);
}
