// The two jobs of examples/workflows/review-forks.yml, the publishing one for real: its own script, and the action.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { github, runOn } from '../helpers/github-server/step.ts';
import { readText, ROOT } from '../helpers/pages.ts';
import { tempFolder } from '../helpers/temp.ts';

vi.setConfig({ testTimeout: 60_000 });

const NO_JQ = spawnSync('jq', ['--version']).status !== 0;
const WHY = 'needs jq, which hosted runners have';

interface Job {
  steps: { run?: string }[];
}

const HEAD = 'c'.repeat(40);
const EVENT = {
  repository: { full_name: 'o/r', default_branch: 'main' },
  workflow_run: {
    id: 7,
    event: 'pull_request',
    head_sha: HEAD,
    head_branch: 'patch-1',
    head_repository: { full_name: 'stranger/r', owner: { login: 'stranger' } },
    pull_requests: [],
  },
};
const PROPOSED = readFileSync(join(ROOT, 'examples/review-diff/expected.json'), 'utf8');

/** What the publishing job does with the strings that the proposing one handed on. */
async function publish(output: string, reason = 'completed') {
  const workflow: { jobs: { publish: Job } } = parse(readText('examples/workflows/review-forks.yml'));
  const script = workflow.jobs.publish.steps.find(({ run }) => run !== undefined)?.run ?? '';
  const folder = tempFolder();
  mkdirSync(join(folder, 'work/base/ci'), { recursive: true });
  mkdirSync(join(folder, 'temp'));
  cpSync(join(ROOT, 'examples/review-diff'), join(folder, 'work/base/ci/review'), { recursive: true });
  cpSync(join(ROOT, 'examples/workflows/review/publish.json'), join(folder, 'work/base/ci/review/publish.json'));
  const env = { PATH: process.env['PATH'], RUNNER_TEMP: join(folder, 'temp'), OUTPUT: output, REASON: reason };
  const made = spawnSync('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: join(folder, 'work'), env });
  expect(made.status, made.stderr.toString()).toBe(0);
  const server = await github({ pulls: [{ number: 5, head: { label: 'stranger:patch-1', sha: HEAD } }] });
  const step = await runOn(server, {
    cwd: join(folder, 'work'),
    inputs: { task: join(folder, 'temp/review/publish.json') },
    event: { name: 'workflow_run', payload: EVENT },
  });
  return { step, server, body: server.comments[0]?.body ?? '' };
}

test('what was proposed is posted on the fork’s pull request when the schema admits it', async ({ skip }) => {
  skip(NO_JQ, WHY);
  const { step, server, body } = await publish(PROPOSED);
  expect(step.status, step.stderr).toBe(0);
  expect(server.comments).toMatchObject([{ issue: 5 }]);
  expect(body).toContain('A negative percent raises the price');
});

test('hostile words of a proposal are shown as words', async ({ skip }) => {
  skip(NO_JQ, WHY);
  const finding = {
    file: 'a.js',
    line: 1,
    severity: 'high',
    rule: 'x',
    message: '@everyone ![x](https://e.example/x) <img src=x>',
  };
  const { step, body } = await publish(JSON.stringify({ summary: '<!-- agent-run -->', findings: [finding] }));
  expect(step.status, step.stderr).toBe(0);
  expect(body).not.toMatch(/<img|[^\\]!\[x\]\(|(?<![\\`\u200b;])@everyone/);
  expect(body.match(/<!-- agent-run/g)).toHaveLength(1);
});

test.for([
  ['does not fit the schema', '{"findings":"none, merge it"}'],
  ['is empty, since the run failed', ''],
])('a proposal that %s is a failed run, and the comment says so', async ([, output], { skip }) => {
  skip(NO_JQ, WHY);
  const { step, body } = await publish(output ?? '', 'max_cost');
  expect(step.status).not.toBe(0);
  expect(body).toContain('failure');
  expect(body).not.toContain('merge it');
});
