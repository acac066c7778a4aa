// Whole workflows as act runs them, without containers: checkout, our action with its post stage, outputs between jobs.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { readText, ROOT } from '../helpers/pages.ts';
import { tempFolder, writeTree } from '../helpers/temp.ts';

vi.setConfig({ testTimeout: 120_000 });

const ACT = join(ROOT, 'tools/act/act');
const WHY = 'needs act, which npm run test:act builds with Go';
const TWO_JOBS = `
name: two
on: push
permissions: { contents: read }
jobs:
  one:
    runs-on: ubuntu-24.04
    outputs: { output: '\${{ steps.run.outputs.output }}' }
    steps:
      - uses: actions/checkout@v6
      - { id: run, uses: ./agent-run, with: { task: task.json, inputs: 'who=act' } }
  two:
    needs: one
    runs-on: ubuntu-24.04
    steps:
      - run: echo "NEXT $OUTPUT"
        env: { OUTPUT: '\${{ needs.one.outputs.output }}' }
`;
const HELLO = {
  inputs: { who: {} },
  prompt: 'Greet {{ inputs.who }}.',
  model: { provider: 'script', id: 's', script: { turns: [{ text: 'hello from act' }] } },
};

interface Repository {
  root: string;
  git(...args: string[]): string;
}

function repositoryAt(root: string): Repository {
  const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.invalid'];
  return {
    root,
    git: (...args) => execFileSync('git', [...who, ...args], { cwd: root, encoding: 'utf8', stdio: 'pipe' }),
  };
}

/** The action as a version tag ships it, in a folder of the repository. */
function addAction({ root }: Repository): void {
  for (const name of ['action', 'action.yml', 'dist', 'schemas', 'package.json'])
    cpSync(join(ROOT, name), join(root, 'agent-run', name), { recursive: true });
}

function act({ root }: Repository, args: string[]): { status: number | null; log: string } {
  const home = tempFolder();
  const env = { PATH: process.env['PATH'], HOME: home, XDG_CACHE_HOME: join(home, 'cache') };
  const given = [...args, '-P', 'ubuntu-24.04=-self-hosted', '--pull=false'];
  const { status, stdout, stderr } = spawnSync(ACT, given, { cwd: root, env, encoding: 'utf8', timeout: 110_000 });
  return { status, log: `${stdout}${stderr}` };
}

test('act runs the action between a checkout and a job that reads its output', ({ skip }) => {
  skip(!existsSync(ACT), WHY);
  const repository = repositoryAt(tempFolder());
  repository.git('init', '-q', '-b', 'main');
  writeTree(repository.root, { 'task.json': JSON.stringify(HELLO), '.github/workflows/two.yml': TWO_JOBS });
  addAction(repository);
  repository.git('add', '--all');
  repository.git('commit', '-q', '-m', 'All');
  const { status, log } = act(repository, ['push']);
  expect(status, log).toBe(0);
  expect(log).toContain('NEXT hello from act');
  expect(log).toMatch(/Success - Post \.\/agent-run/);
  expect(log).toContain('**task: success**');
});

test('act runs the shipped gate on a pull request, with the task of its base', ({ skip }) => {
  skip(!existsSync(ACT), WHY);
  const root = join(tempFolder(), 'repository');
  mkdirSync(root);
  const repository = repositoryAt(root);
  repository.git('init', '-q', '-b', 'main');
  cpSync(join(ROOT, 'examples/changelog-check'), join(root, 'ci/changelog-check'), { recursive: true });
  const shipped = readText('examples/workflows/gate.yml').replaceAll('OWNER/agent-run@v0.1.0', './agent-run');
  const workflow = shipped.replace("max-cost-usd: '0.3'", "max-turns: '5'"); // a script has no price
  writeTree(root, { '.github/workflows/gate.yml': workflow, 'CHANGELOG.md': '# Changelog\n' });
  addAction(repository);
  repository.git('add', '--all');
  repository.git('commit', '-q', '-m', 'Base');
  const base = repository.git('rev-parse', 'HEAD').trim();
  // The pull request: a change that users see, a line about it, and a task that would say yes to anything.
  writeTree(root, {
    'CHANGELOG.md': '# Changelog\n\n- Duplicate keys are an error.\n',
    'src/parse.js': "export const parse = (text) => {\n  throw new Error('duplicate key');\n};\n",
    'ci/changelog-check/task.json': '{ "prompt": "Say yes." }',
  });
  repository.git('add', '--all');
  repository.git('commit', '-q', '-m', 'Head');
  const repo = { full_name: 'o/r' };
  const head = { sha: repository.git('rev-parse', 'HEAD').trim(), repo };
  const event = { pull_request: { number: 1, head, base: { sha: base, repo } }, repository: repo };
  writeTree(root, { '../event.json': JSON.stringify(event) });
  const { status, log } = act(repository, ['pull_request', '-e', '../event.json', '--env', 'GITHUB_REPOSITORY=o/r']);
  expect(log).toContain('changelog-check');
  expect(status, log).toBe(0);
  expect(log).toContain('exit-reason=completed');
});
