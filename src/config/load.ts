// TASK -> RunConfig: read, parse, check against the schema, fill defaults, read the files it names, interpolate.

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { RunConfig, TaskConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { isJsonObject, type JsonValue } from '../core/json.ts';
import { type Building, buildText, stopAtIssues } from './building.ts';
import { buildContext } from './context.ts';
import { buildCustomTools } from './custom-tools.ts';
import { fillInputs, readGivenInputs } from './inputs.ts';
import { type Issue, showValue } from './issues.ts';
import { buildLimits, rangeIssues } from './limits.ts';
import type { RunOptions } from './merge.ts';
import { buildMcpServers } from './mcp.ts';
import { buildModel } from './model.ts';
import { buildOutput } from './output.ts';
import { parseSource } from './parse.ts';
import { buildPromptTemplates } from './prompts.ts';
import { buildPublishing } from './publishing.ts';
import { chooseReader, type ReaderRequest } from './reader.ts';
import { buildServerTools } from './server-tools.ts';
import { buildSkills } from './skills.ts';
import { MAX_NAMED_BYTES, MAX_TASK_BYTES, type ReadFile, type ReadResult, type Source, sourceOf } from './source.ts';
import type { TaskFile } from './task-file.ts';
import { literalTemplateIssues } from './template-places.ts';
import { buildSandbox, buildTools, buildVerify } from './tools.ts';
import { untrustedReason } from './trust.ts';
import { validateTask } from './validate-task.ts';

/** `file` may be '-': JSON on standard input. */
export interface LoadRequest extends ReaderRequest {
  /** Called at most once, and only when the command line says so. */
  readStdin: (max_bytes: number) => Promise<ReadResult>;
}

/** The run that a task file and its options describe; throws UsageError for every mistake of the caller. */
export async function loadRun(request: LoadRequest): Promise<RunConfig> {
  const { options, cwd, env } = request;
  const workspace = findWorkspace(options.workspace, cwd);
  const reason = options.untrusted ? 'said by --untrusted or AGENT_RUN_UNTRUSTED' : untrustedReason(env);
  const { read: readAny, list, commit } = await chooseReader(request, { workspace, reason });
  const files: string[] = [];
  const read: ReadFile = (path) => {
    files.push(path);
    return readAny(path);
  };
  const source = await readTask(request, read);
  const value = await parseSource(source);
  const issues = await taskIssues(value);
  await stopAtIssues({ source, issues });
  const task = value as unknown as TaskFile; // the schema accepted it
  const building = await startBuilding(request, { source, task, read, list });
  // A text with a gap where a missing input belongs would be told as a second mistake.
  if (building.issues.some(({ args }) => args !== undefined)) await stopAtIssues(building);
  const built = await buildTask(building, { options, ref: commit, files });
  await stopAtIssues(building);
  return {
    task: built,
    workspace,
    ...(options.out === undefined ? {} : { out: resolve(cwd, options.out) }),
    ...(options.keep === undefined ? {} : { keep: options.keep }),
    untrusted: reason !== undefined,
    ...(reason === undefined ? {} : { untrusted_reason: reason }),
  };
}

async function taskIssues(value: JsonValue): Promise<Issue[]> {
  if (!isJsonObject(value))
    return [{ pointer: '', message: `found ${showValue(value)}, expected an object with "prompt" and "model"` }];
  const issues = await validateTask(value);
  return issues.length > 0 ? issues : [...rangeIssues(value), ...literalTemplateIssues(value)];
}

async function startBuilding(
  request: LoadRequest,
  parts: Pick<Building, 'source' | 'task' | 'read' | 'list'>,
): Promise<Building> {
  const declared = parts.task.inputs ?? {};
  const stdin = onceStdin(request);
  const givenInputs = await readGivenInputs(declared, request.options.inputs, { cwd: request.cwd, readStdin: stdin });
  const { values, issues } = fillInputs(declared, givenInputs);
  const folder = request.file === '-' ? request.cwd : dirname(resolve(request.cwd, request.file));
  return { ...parts, folder, inputs: values, issues };
}

async function buildTask(
  building: Building,
  { options, ref, files }: { options: RunOptions; ref: string | null; files: string[] },
): Promise<TaskConfig> {
  const { source, task } = building;
  const model = await buildModel(building, options.model);
  const prompts = await buildPrompts(building);
  return {
    name: task.name ?? nameOf(source.file),
    file: source.file,
    sha256: createHash('sha256').update(source.raw).digest('hex'),
    ref,
    inputs: Object.fromEntries(Object.entries(building.inputs).map(([name, value]) => [name, value ?? ''])),
    system: task.system === undefined ? null : (await buildText(building, task.system, '/system')) || null,
    prompts,
    context: await buildContext(building),
    model,
    tools: buildTools(task.tools ?? {}),
    ...buildServerTools(building, model),
    custom_tools: await buildCustomTools(building),
    ...buildMcpServers(building),
    ...(await buildSkills(building)),
    sandbox: buildSandbox(task.sandbox),
    limits: buildLimits(task.limits ?? {}, options),
    output: await buildOutput(building),
    verify: await buildVerify(building),
    ...(await buildPromptTemplates(building)),
    ...(task.findings === undefined ? {} : { findings: task.findings }),
    ...(await buildPublishing(building)),
    redact: task.redact ?? [],
    // Last, when everything the task names has been read.
    files: [...new Set(files)],
  };
}

async function buildPrompts(building: Building): Promise<string[]> {
  const { prompt } = building.task;
  const fields = Array.isArray(prompt) ? prompt : [prompt];
  const prompts: string[] = [];
  for (const [index, field] of fields.entries()) {
    const pointer = Array.isArray(prompt) ? `/prompt/${index}` : '/prompt';
    const before = building.issues.length;
    const text = await buildText(building, field, pointer);
    if (text.trim() === '' && building.issues.length === before) {
      building.issues.push({
        pointer,
        message: 'found a prompt without any text, expected one that asks for something',
      });
    }
    prompts.push(text);
  }
  return prompts;
}

/** "ci/review.task.json" is "review.task"; what a folder name cannot hold becomes a dash. */
function nameOf(file: string): string {
  if (file === '-') return 'task';
  const stem = basename(file).replace(/\.(jsonc?|ya?ml)$/i, '');
  return (
    stem
      .replaceAll(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 100) || 'task'
  );
}

async function readTask(request: LoadRequest, read: ReadFile): Promise<Source> {
  const { file, cwd } = request;
  if (file === '-') {
    const result = await request.readStdin(MAX_TASK_BYTES);
    if (!result.ok) throw new UsageError(`cannot read the task from standard input: ${result.reason}`);
    return sourceOf(file, result.text);
  }
  const path = resolve(cwd, file);
  const result = await read(path);
  if (!result.ok) throw new UsageError(`cannot read the task ${JSON.stringify(file)}: ${result.reason}`);
  if (Buffer.byteLength(result.text) > MAX_TASK_BYTES) {
    throw new UsageError(`cannot read the task ${JSON.stringify(file)}: it is larger than ${MAX_TASK_BYTES} bytes`);
  }
  return sourceOf(file, result.text);
}

/** Standard input holds one thing: the task, or one input. */
function onceStdin(request: LoadRequest): () => Promise<ReadResult> {
  let taken = request.file === '-' ? 'the task' : undefined;
  return async () => {
    if (taken) return { ok: false, reason: `standard input was already read for ${taken}` };
    taken = 'another input';
    return request.readStdin(MAX_NAMED_BYTES);
  };
}

function findWorkspace(given: string | undefined, cwd: string): string {
  const path = resolve(cwd, given ?? '.');
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new UsageError(`--workspace: found ${JSON.stringify(given ?? path)}, expected a folder that exists (${path})`);
}
