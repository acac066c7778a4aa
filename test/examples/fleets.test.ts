// The manifests for schedulers that cannot run here: judged by the schedulers' own schemas, and their commands run as processes.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { CronJob } from 'kubernetes-models/batch/v1/CronJob';
import { Ajv } from 'ajv';
import { describe, expect, test, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { isJsonObject } from '../../src/core/json.ts';
import { readText, ROOT } from '../helpers/pages.ts';
import { tempTree } from '../helpers/temp.ts';

vi.setConfig({ testTimeout: 90_000 });

const KINDS = { CronJob, Job };

function manifests(file: string): Record<string, unknown>[] {
  return parseAllDocuments(readText(`examples/kubernetes/${file}`)).map(
    (document) => document.toJS() as Record<string, unknown>,
  ); // each is checked below
}

/** What Kubernetes says of a manifest; undefined: nothing. */
function fault(manifest: Record<string, unknown>): string | undefined {
  const Model = KINDS[manifest['kind'] as keyof typeof KINDS]; // a kind that is not there fails on the next line
  try {
    new Model(manifest).validate();
    return undefined;
  } catch (error) {
    return String(error);
  }
}

describe('the Kubernetes manifests', () => {
  test.each(['cronjob.yaml', 'indexed-job.yaml'])('%s is what Kubernetes accepts', (file) => {
    expect(manifests(file).length).toBeGreaterThan(0);
    expect(manifests(file).map(fault)).toEqual(manifests(file).map(() => undefined));
  });

  test('are judged by a schema that refuses what is wrong', () => {
    const [job] = manifests('cronjob.yaml');
    const spec = job?.['spec'] as Record<string, unknown>; // the test above has seen it
    expect(fault({ ...job, spec: { ...spec, schedule: 7 } })).toContain('schedule');
  });

  test('name one image, of the version of this package', () => {
    const { version } = JSON.parse(readText('package.json')) as { version: string }; // our own file
    const text = ['Dockerfile', 'cronjob.yaml', 'indexed-job.yaml']
      .map((file) => readText(`examples/kubernetes/${file}`))
      .join('');
    const versions = [...text.matchAll(/agent-run[:-](\d+\.\d+\.\d+)/g)].map((match) => match[1]);
    expect(versions.length).toBeGreaterThan(4);
    expect(new Set(versions)).toEqual(new Set([version]));
  });

  test('stop a pod later than the run stops itself', () => {
    const text = readText('examples/kubernetes/cronjob.yaml');
    expect(text).toContain('--timeout, 20m');
    expect(Number(/activeDeadlineSeconds: (\d+)/.exec(text)?.[1])).toBeGreaterThan(20 * 60);
  });
});

/** A folder with tasks, and `agent-run` as a command on its PATH. */
function fleet(tasks: number): { cwd: string; env: Record<string, string> } {
  const model = (text: string): object => ({ provider: 'script', script: { turns: [{ text }] } });
  const files = Array.from({ length: tasks }, (_, index) => {
    const output = index === 2 ? { schema: { type: 'object' }, repair_attempts: 0 } : {};
    return [
      `tasks/t${index}.json`,
      JSON.stringify({
        prompt: 'x',
        model: { ...model(`answer ${index}`), prices: { input: 1, output: 1 } },
        limits: { max_cost_usd: 0.1 },
        output,
      }),
    ];
  });
  const cwd = tempTree({ ...Object.fromEntries(files), 'bin/x': '', 'results/x': '' });
  symlinkSync(join(ROOT, 'dist/cli.mjs'), join(cwd, 'bin/agent-run'));
  chmodSync(join(ROOT, 'dist/cli.mjs'), 0o755);
  return { cwd, env: { PATH: `${join(cwd, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`, HOME: cwd } };
}

function sh(
  command: string,
  { cwd, env }: ReturnType<typeof fleet>,
  more: Record<string, string> = {},
): Promise<number | null> {
  const child = spawn('sh', ['-c', command], { cwd, env: { ...env, ...more }, stdio: 'ignore' });
  return new Promise((resolve) => child.on('close', resolve));
}

/** Every run of a merged report by name, and the report's own code. */
function merged(files: string, place: ReturnType<typeof fleet>): { names: string[]; status: number | null } {
  const { stdout, status } = spawnSync('sh', ['-c', `agent-run report ${files} --merge --format json`], {
    ...place,
    encoding: 'utf8',
  });
  const report: unknown = JSON.parse(stdout);
  const runs = isJsonObject(report) && Array.isArray(report['runs']) ? report['runs'] : [];
  return { names: runs.map((run) => (isJsonObject(run) ? JSON.stringify(run['task']) : '')).sort(), status };
}

describe('a fleet, its shards started side by side as the scheduler starts them', () => {
  test('covers every task once, and the merged page has them all', async () => {
    const place = fleet(7);
    const texts = manifests('indexed-job.yaml').map((manifest) => JSON.stringify(manifest));
    const commands = texts.map((text) => /"(exec agent-run [^}\]]+?)"\]/.exec(text)?.[1] ?? '');
    const local = commands.map((text) => (JSON.parse(`"${text}"`) as string).replaceAll('/results', 'results')); // a JSON text's inside
    const codes = await Promise.all(
      [0, 1, 2, 3].map((index) => sh(local[0] ?? '', place, { JOB_COMPLETION_INDEX: String(index) })),
    );
    expect(codes.toSorted((a, b) => (a ?? 1) - (b ?? 1))).toEqual([0, 0, 0, 3]);
    expect(merged('results/shard-*', place)).toEqual({
      names: [0, 1, 2, 3, 4, 5, 6].map((index) => `"t${index}"`),
      status: expect.any(Number) as number,
    });
    await sh(local[1] ?? '', place);
    const page = readFileSync(join(place.cwd, 'results/report.html'), 'utf8');
    expect(page).toMatch(/^<!doctype html>/i);
  });

  test('of GitLab counts its jobs as shards are counted', async () => {
    const place = fleet(5);
    const pipeline: unknown = parse(readText('examples/gitlab/gitlab-ci.yml'));
    const script = isJsonObject(pipeline) && isJsonObject(pipeline['fleet']) ? pipeline['fleet']['script'] : [];
    const command = Array.isArray(script) && typeof script[0] === 'string' ? script[0] : '';
    const jobs = [1, 2, 3, 4].map((index) => sh(command, place, { CI_NODE_INDEX: String(index), CI_NODE_TOTAL: '4' }));
    expect((await Promise.all(jobs)).toSorted((a, b) => (a ?? 1) - (b ?? 1))).toEqual([0, 0, 0, 3]);
    expect(merged('fleet/*', place).names).toEqual([0, 1, 2, 3, 4].map((index) => `"t${index}"`));
  });
});

// The keywords that the pipeline uses, with the forms that https://docs.gitlab.com/ci/yaml/ gives them.
const LINES = { type: 'array', minItems: 1, items: { type: 'string' } };
const RULE = {
  type: 'object',
  additionalProperties: false,
  required: ['if'],
  properties: { if: { type: 'string' }, when: { enum: ['always', 'never', 'on_success', 'manual'] } },
};
const ARTIFACTS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    when: { enum: ['on_success', 'on_failure', 'always'] },
    expire_in: { type: 'string' },
    paths: LINES,
    reports: { type: 'object', additionalProperties: false, properties: { junit: { type: 'string' } } },
  },
};
const JOB = {
  type: 'object',
  additionalProperties: false,
  required: ['stage', 'script'],
  properties: {
    stage: { enum: ['review', 'fleet', 'report'] },
    rules: { type: 'array', items: RULE },
    script: LINES,
    after_script: LINES,
    parallel: { type: 'integer', minimum: 2, maximum: 200 },
    artifacts: ARTIFACTS,
  },
};
const PIPELINE = {
  type: 'object',
  additionalProperties: JOB,
  properties: {
    stages: LINES,
    default: {
      type: 'object',
      additionalProperties: false,
      properties: { image: { type: 'string' }, interruptible: { type: 'boolean' } },
    },
    variables: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

test("the GitLab pipeline uses GitLab's keywords, in their forms", () => {
  const validate = new Ajv({ allErrors: true }).compile(PIPELINE);
  const pipeline = parse(readText('examples/gitlab/gitlab-ci.yml')) as Record<string, object>; // our own file
  validate(pipeline);
  expect(validate.errors).toBeNull();
  expect(validate({ ...pipeline, fleet: { ...pipeline['fleet'], paralel: 4 } })).toBe(false);
});
