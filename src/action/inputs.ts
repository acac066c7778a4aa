// The inputs of the action as one typed object; nothing else reads INPUT_* variables.

import { UsageError } from '../core/errors.ts';
import { isJsonObject, type JsonValue } from '../core/json.ts';
import { didYouMean } from '../core/nearest.ts';
import { type Association, readAssociations } from '../config/association.ts';
import type { InputText } from '../config/merge.ts';
import { type OptionName, OPTIONS, type RawFlags, readChoice, readSwitch } from '../config/options.ts';
import { parseSource } from '../config/parse.ts';
import { type Source, sourceOf } from '../config/source.ts';
import { writtenScalars } from '../config/written.ts';

/** Value of one input, trimmed; '' when it was not given. */
export type GetInput = (name: string) => string;

export const FAIL_ON = ['error', 'verdict', 'never'] as const;
export type FailOn = (typeof FAIL_ON)[number];

export interface ActionInputs {
  task: string;
  flags: RawFlags;
  /** Taken as they are: what stands in a workflow may be a stranger's words, so none names a file. */
  inputs: InputText[];
  anthropic_api_key: string;
  /** Value of the variable that the task's `api_key_env` names. */
  api_key: string;
  /** Ids of keyless access, under the names of the variables that the run reads; none is secret. */
  federation: Readonly<Record<string, string>>;
  sandbox_required: boolean;
  annotations: boolean;
  summary: boolean;
  comment: CommentInputs;
  /** Whose events may set off a run; absent: the default of the event. */
  allowed_associations?: readonly Association[];
}

export interface CommentInputs {
  token: string;
  key: string;
  /** Absent: the task decides. */
  wanted?: boolean;
}

export const SECRET_INPUTS = ['anthropic-api-key', 'api-key', 'github-token'] as const;

const OPTION_INPUTS = ['model', 'workspace', 'out', 'task-ref', 'max-turns', 'max-cost-usd', 'timeout'] as const;
const SANDBOX_MODES = ['auto', 'required'] as const;
/** Options that are none of a step's, and why. */
const NOT_IN_ARGS: Partial<Record<OptionName, string>> = {
  input: 'values have the input "inputs", which reads no files',
  format: 'a step has no standard output to shape; its outputs and `result.json` hold the result',
  color: 'a step has no terminal to color',
  'dry-run': 'a step does run the task; `agent-run validate` checks one without running it',
};
const MAX_KEY = 100;

/** Reads every input; throws UsageError for one that is missing, or misspelt. */
export async function readInputs(get: GetInput): Promise<ActionInputs> {
  const task = get('task');
  if (task === '') throw new UsageError('the input "task" is missing, expected the path of a task file');
  if (task === '-') throw new UsageError('the input "task" is "-", but a step has no standard input; name a file');
  return {
    task,
    flags: readFlags(get),
    inputs: await readValues(get('inputs')),
    anthropic_api_key: get('anthropic-api-key'),
    api_key: get('api-key'),
    federation: readFederation(get),
    sandbox_required: readSandbox(get('sandbox')),
    annotations: readSwitch(given('annotations', get, 'true')),
    summary: readSwitch(given('summary', get, 'true')),
    comment: readCommentInputs(get),
    ...associations(get('allowed-associations')),
  };
}

function associations(text: string): Pick<ActionInputs, 'allowed_associations'> {
  const allowed_associations = readAssociations(text);
  return allowed_associations === undefined ? {} : { allowed_associations };
}

/** The inputs that speak of the comment. */
export function readCommentInputs(get: GetInput): CommentInputs {
  const [wanted, key, token] = [get('comment'), get('comment-key'), get('github-token')];
  if (key.length > MAX_KEY) {
    throw new UsageError(`the input "comment-key" has ${key.length} characters, expected at most ${MAX_KEY}`);
  }
  if (wanted === '') return { token, key };
  return { token, key, wanted: readSwitch({ value: wanted, origin: 'the input "comment"' }) };
}

/** What makes the step fail; throws UsageError for an unknown word. */
export function readFailOn(get: GetInput): FailOn {
  return readChoice(FAIL_ON, given('fail-on', get, 'error'));
}

function given(name: string, get: GetInput, fallback: string): { value: string; origin: string } {
  return { value: get(name) || fallback, origin: `the input "${name}"` };
}

/** The input and the variable of each id of keyless access. */
const FEDERATION_INPUTS = [
  ['federation-rule-id', 'ANTHROPIC_FEDERATION_RULE_ID'],
  ['organization-id', 'ANTHROPIC_ORGANIZATION_ID'],
  ['service-account-id', 'ANTHROPIC_SERVICE_ACCOUNT_ID'],
  ['workspace-id', 'ANTHROPIC_WORKSPACE_ID'],
] as const;

function readFederation(get: GetInput): Record<string, string> {
  const given = FEDERATION_INPUTS.filter(([name]) => get(name) !== '');
  if (given.length === 0) return {};
  const missing = ['federation-rule-id', 'organization-id'].find((name) => get(name) === '');
  if (missing !== undefined) {
    throw new UsageError(
      `the input "${given[0]?.[0]}" is given, but "${missing}" is missing; keyless access needs both`,
    );
  }
  if (get('anthropic-api-key') !== '') {
    throw new UsageError('the inputs "anthropic-api-key" and "federation-rule-id" are both given; keep one');
  }
  return Object.fromEntries(given.map(([name, variable]) => [variable, get(name)]));
}

function readSandbox(mode: string): boolean {
  if (mode === 'off') {
    throw new UsageError(
      'the input "sandbox": found "off", expected auto or required; only the task can switch it off',
    );
  }
  return readChoice(SANDBOX_MODES, { value: mode || 'auto', origin: 'the input "sandbox"' }) === 'required';
}

/** Inputs that are options, and the lines of `args`; one given in both places is refused where options are merged. */
function readFlags(get: GetInput): RawFlags {
  const flags: Record<string, string | boolean | string[]> = {};
  const add = (name: string, value: string): void => {
    const before = flags[name];
    flags[name] = Array.isArray(before) ? [...before, value] : [value];
  };
  for (const name of OPTION_INPUTS) if (get(name) !== '') add(name, get(name));
  for (const { name, value } of readArgs(get('args'))) {
    if (value === undefined) flags[name] = true;
    else add(name, value);
  }
  return flags;
}

/** `--name=value`, or `--name` with the value on the next line. */
function readArgs(text: string): { name: OptionName; value?: string }[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const read: { name: OptionName; value?: string }[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const match = /^\s*--([a-z-]+)(?:=(.*))?$/.exec(line);
    const name = optionName(line, match?.[1]);
    if (OPTIONS[name].kind === 'switch') {
      if (match?.[2] !== undefined) throw wrongArg(line, `"--${name}" alone`);
      read.push({ name });
      continue;
    }
    const value = match?.[2] ?? lines[(index += 1)];
    if (value === undefined) throw wrongArg(line, `"--${name}=VALUE"`);
    read.push({ name, value });
  }
  return read;
}

function optionName(line: string, name: string | undefined): OptionName {
  const options = Object.keys(OPTIONS) as OptionName[]; // its own keys
  const found = options.find((option) => option === name);
  const barred = found && NOT_IN_ARGS[found];
  if (barred !== undefined) throw new UsageError(`the input "args": "--${found}" is not for a step: ${barred}`);
  if (found !== undefined) return found;
  const known = options.filter((option) => NOT_IN_ARGS[option] === undefined);
  const meant = didYouMean(name ?? line.trim(), known);
  throw wrongArg(line, `one option a line, such as "--keep=5"${meant}`);
}

function wrongArg(line: string, expected: string): UsageError {
  return new UsageError(`the input "args": found ${JSON.stringify(line.trim().slice(0, 80))}, expected ${expected}`);
}

/** Lines of NAME=VALUE, or a map in YAML or JSON. */
async function readValues(text: string): Promise<InputText[]> {
  const origin = 'the input "inputs"';
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (!text.startsWith('{') && lines.every((line) => /^\s*[A-Za-z_][\w-]*=/.test(line))) {
    return lines.map((line) => ({ value: line.trimStart(), origin, reads_files: false }));
  }
  const source: Source = { ...sourceOf('inputs', text), format: text.startsWith('{') ? 'json' : 'yaml' };
  const value = await parseSource(source);
  if (!isJsonObject(value)) {
    throw new UsageError(`${origin}: found neither lines of name=value nor a map of names to values`);
  }
  const texts = Object.values(value).every((item) => typeof item === 'string');
  const written = texts ? undefined : await writtenScalars(source);
  return Object.entries(value).map(([name, item]) => ({
    value: `${name}=${valueText(name, item, written?.get(name))}`,
    origin,
    reads_files: false,
  }));
}

/** A number or a boolean is what was written, not what it was read as: 1.10 stays 1.10. */
function valueText(name: string, value: JsonValue, written: string | undefined): string {
  if (typeof value === 'string') return value;
  if (written !== undefined && (typeof value === 'number' || typeof value === 'boolean')) return written;
  const found = JSON.stringify(value).slice(0, 80);
  throw new UsageError(
    `the input "inputs": found ${found} as the value of "${name}", expected a text, a number, true or false`,
  );
}
