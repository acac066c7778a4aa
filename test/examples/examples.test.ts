import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { parse } from 'yaml';
import { isJsonObject } from '../../src/core/json.ts';
import { fences, ROOT } from '../helpers/pages.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const EXAMPLES = readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(join(ROOT, 'examples', entry.name, 'expected.json')))
  .map((entry) => entry.name);

interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
  workspace: string;
  out: string;
}

/** Runs an example as its README says. */
function runExample(name: string): Ran {
  const folder = tempFolder();
  const env = { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder };
  const args = [join(ROOT, 'scripts/demo.mjs'), name];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  const made = join(folder, readdirSync(folder).find((entry) => entry.startsWith('agent-run-demo-')) ?? '');
  return { status, stdout, stderr, workspace: join(made, 'workspace'), out: join(made, 'run') };
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** What ajv itself says of a value; the product's own compiler is not asked. */
function errorsOf(schemaFile: string, value: unknown): string[] {
  const schema = readJson(schemaFile) as Record<string, unknown>; // our own files; ajv refuses what is no schema
  const ajv = String(schema['$schema']).includes('draft-07')
    ? new Ajv({ strict: false })
    : new Ajv2020({ strict: false });
  formats.default(ajv);
  const validate = ajv.compile(schema);
  validate(value);
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`);
}

const schemaOf = (name: string): string => join(ROOT, 'schemas', `${name}.schema.json`);

describe.each(EXAMPLES)('the example %s', (name) => {
  test('ends well, prints the expected output, and leaves a run folder that its schemas accept', async () => {
    const ran = runExample(name);
    expect(ran, ran.stderr).toMatchObject({ status: 0 });
    const output: unknown = JSON.parse(ran.stdout);
    expect(output).toEqual(readJson(join(ROOT, 'examples', name, 'expected.json')));
    const schema =
      readdirSync(join(ROOT, 'examples', name)).find((file) => /^(?!gate)[a-z]+\.schema\.json$/.test(file)) ?? '';
    expect(errorsOf(join(ROOT, 'examples', name, schema), output)).toEqual([]);
    expect(readJson(join(ran.out, 'output.json'))).toEqual(output);
    expect(errorsOf(schemaOf('result'), readJson(join(ran.out, 'result.json')))).toEqual([]);
    expect(errorsOf(schemaOf('usage'), readJson(join(ran.out, 'usage.json')))).toEqual([]);
    const lines = readFileSync(join(ran.out, 'transcript.jsonl'), 'utf8').trimEnd().split('\n');
    expect(lines.flatMap((line) => errorsOf(schemaOf('transcript'), JSON.parse(line)))).toEqual([]);
  });

  test('has a task that the task schema accepts', () => {
    const file = ['task.json', 'task.yaml']
      .map((entry) => join(ROOT, 'examples', name, entry))
      .find((path) => existsSync(path));
    const task: unknown = parse(readFileSync(file ?? '', 'utf8').replace(/^\s*\/\/.*$/gm, ''));
    expect(errorsOf(schemaOf('task'), task)).toEqual([]);
  });
});

test('the script on the page about models plays as the page says', () => {
  const block = fences().find(({ page, text }) => page === 'docs/providers.md' && text.includes('"script"'));
  const folder = tempTree({ 'task.json': block?.text ?? '' });
  const args = [
    join(ROOT, 'dist/cli.mjs'),
    join(folder, 'task.json'),
    '--workspace',
    ROOT,
    '--out',
    join(folder, 'run'),
  ];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', timeout: 60_000 });
  expect(stdout, stderr).toBe('It is called agent-run.\n');
});

describe('what the examples do to the workspace', () => {
  test('the failing test passes after the triage, and the patch says what changed', async () => {
    const { workspace, out } = runExample('triage-failing-test');
    const after = spawnSync(process.execPath, ['test/slug.test.js'], { cwd: workspace, encoding: 'utf8' });
    expect(after.stdout).toBe('2 assertions passed\n');
    const patch = readFileSync(join(out, 'changes.patch'), 'utf8');
    expect(patch).toContain('+++ b/src/slug.js');
    const result = readJson(join(out, 'result.json'));
    expect(isJsonObject(result) && result['verify']).toEqual([expect.objectContaining({ ok: true })]);
  });

  test('the release notes are a new file, and the patch holds it', async () => {
    const { workspace, out } = runExample('release-notes');
    expect(readFileSync(join(workspace, 'RELEASE_NOTES.md'), 'utf8')).toMatch(/^# v1\.1\.0\n/);
    expect(readFileSync(join(out, 'changes.patch'), 'utf8')).toContain('+++ b/RELEASE_NOTES.md');
  });

  test('a review changes nothing', async () => {
    const { workspace, out } = runExample('review-diff');
    const status = spawnSync('git', ['status', '--porcelain'], { cwd: workspace, encoding: 'utf8' });
    expect(status.stdout).toBe('');
    expect(existsSync(join(out, 'changes.patch'))).toBe(false);
  });
});
