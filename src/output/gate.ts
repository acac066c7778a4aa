import type { OutputConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import type { OutputMode } from '../core/events.ts';
import { compileSchema, type Validate } from '../core/json-schema.ts';
import type { JsonValue } from '../core/json.ts';
import type { OutputIssue } from '../core/outcome.ts';
import type { Candidate, CheckResult, OutputGate } from '../core/ports.ts';
import { findJson } from './find-json.ts';
import { jsonProblem, onlyMember, readJson, wellFormedJson, type JsonText } from './json-text.ts';
import { nativeObstacle } from './native-screen.ts';
import { createSubmitTool, SUBMIT_TOOL, WRAPPER_KEY, type SubmitTool } from './submit-tool.ts';

export interface GateOptions {
  /** How many prompts the task asks; the schema applies to the last answer. */
  prompts: number;
  /** Whether the service has structured output of its own. */
  native: boolean;
}

export type CompiledGate = OutputGate & {
  /** What the schemas say without effect, one line each. */
  readonly warnings: readonly string[];
};

/** Compiles output schema and gate and chooses how the output is asked for; UsageError with place when one is no schema. */
export async function createGate(output: OutputConfig, options: GateOptions): Promise<CompiledGate> {
  const gate = await compile(output.gate, output.gate_file ?? 'output.gate');
  const verdict = async (value_text: string): Promise<CheckResult> => judge(value_text, gate.validate);
  const has_gate = output.gate !== undefined;
  if (output.schema === undefined) {
    return {
      mode: 'text',
      has_gate,
      warnings: gate.warnings,
      check: async (candidate) => checkText(candidate),
      gate: verdict,
    };
  }
  const schema = await compile(output.schema, output.schema_file ?? 'output.schema');
  const tool = createSubmitTool(output.schema);
  const mode = chooseMode(output.schema, options);
  return {
    mode,
    ...(mode === 'native' ? { native_schema: output.schema } : { tool: tool.definition }),
    has_gate,
    warnings: [...schema.warnings, ...gate.warnings],
    check: async (candidate) => checkJson(candidate, schema.validate, tool),
    gate: verdict,
  };
}

function chooseMode(schema: JsonValue, { prompts, native }: GateOptions): OutputMode {
  return native && prompts === 1 && nativeObstacle(schema) === undefined ? 'native' : 'tool';
}

async function compile(
  schema: JsonValue | undefined,
  source: string,
): Promise<{ validate: Validate; warnings: string[] }> {
  if (schema === undefined) return { validate: () => [], warnings: [] };
  const compiled = await compileSchema(schema, { source });
  if (compiled.ok) return compiled;
  const [first, ...more] = compiled.issues;
  const message = [first, ...more].map((issue) => issue?.message ?? '').join('; ');
  throw new UsageError(`the schema does not compile: ${message}`, {
    place: { file: source, pointer: first?.pointer ?? '' },
  });
}

function checkText(candidate: Candidate): CheckResult {
  const text = candidate.source === 'text' ? candidate.text : candidate.input_json;
  if (text.trim() === '') return missing();
  return { ok: true, kind: 'valid', issues: [], value_text: text.toWellFormed() };
}

function checkJson(candidate: Candidate, validate: Validate, tool: SubmitTool): CheckResult {
  const read = candidate.source === 'tool' ? readCall(candidate.input_json) : readText(candidate.text);
  if (!('text' in read)) return read;
  const problem = jsonProblem(read.text);
  if (problem !== undefined) return rejected('invalid', problem, read.text);
  const [first, ...others] = candidate.source === 'tool' ? callForms(read, tool) : textForms(read);
  const issues = first.issue === undefined ? validate(first.json.value) : [first.issue];
  if (issues.length === 0) return accepted(first.json);
  const other = others.find((form) => validate(form.value).length === 0);
  if (other) return accepted(other);
  return { ok: false, kind: 'invalid', issues, value_text: wellFormedJson(first.json.text) };
}

function readCall(input_json: string): JsonText | CheckResult {
  const read = readJson(input_json.trim() === '' ? '{}' : input_json);
  return read.ok ? read : rejected('malformed', `the input of ${SUBMIT_TOOL} is not valid JSON: ${read.error}`);
}

function readText(text: string): JsonText | CheckResult {
  if (text.trim() === '') return missing();
  const found = findJson(text);
  switch (found.kind) {
    case 'one':
      return found.json;
    case 'several':
      return rejected('invalid', `the answer holds ${found.count} different JSON values; send one value only`);
    case 'none':
      return rejected('malformed', `not valid JSON: ${found.error}; send the value only`);
  }
}

/** The form an output is expected in, which words the issues, then those that are taken when they alone are valid. */
type Forms = [first: { json: JsonText; issue?: OutputIssue }, ...others: JsonText[]];

function textForms(json: JsonText): Forms {
  const inner = onlyMember(json, ['output', WRAPPER_KEY]);
  return inner ? [{ json }, inner] : [{ json }];
}

function callForms(json: JsonText, tool: SubmitTool): Forms {
  if (!tool.wrapped) return textForms(json);
  const inner = onlyMember(json, [WRAPPER_KEY]);
  if (inner) return [{ json: inner }, json];
  const issue = {
    pointer: '',
    message: `missing required key "${WRAPPER_KEY}", which holds the whole output and stands alone`,
  };
  const [, ...others] = textForms(json);
  return [{ json, issue }, json, ...others];
}

function accepted(json: JsonText): CheckResult {
  return { ok: true, kind: 'valid', issues: [], value_text: wellFormedJson(json.text) };
}

function missing(): CheckResult {
  return { ok: false, kind: 'missing', issues: [{ pointer: '', message: 'there is no output' }] };
}

function rejected(kind: 'invalid' | 'malformed', message: string, text?: string): CheckResult {
  const value_text = text === undefined ? {} : { value_text: wellFormedJson(text) };
  return { ok: false, kind, issues: [{ pointer: '', message }], ...value_text };
}

function judge(value_text: string, validate: Validate): CheckResult {
  const read = readJson(value_text);
  if (!read.ok) return { ...rejected('malformed', `not valid JSON: ${read.error}`), value_text };
  const issues = validate(read.value);
  return issues.length === 0
    ? { ok: true, kind: 'valid', issues, value_text }
    : { ok: false, kind: 'invalid', issues, value_text };
}
