import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { gitRepo } from '../helpers/git-repo.ts';
import { github, runOn } from '../helpers/github-server/step.ts';
import { submit } from '../helpers/step.ts';
import { tempFolder } from '../helpers/temp.ts';
import { webhook } from '../helpers/webhooks.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const answer = (constant: string): string =>
  JSON.stringify({ type: 'object', required: ['a'], properties: { a: { const: constant } } });

/** A gate as people have it: the task names a schema, a gate, a template and a script, all in files beside it. */
const GATE = {
  'ci/task.json': JSON.stringify({
    name: 'gate',
    prompt: { file: 'prompt.md' },
    model: { provider: 'script', id: 'script', script: 'script.json' },
    output: { schema: 'schema.json', gate: 'gate.json' },
    github: { comment: { template: { file: 'comment.md' } } },
  }),
  'ci/prompt.md': 'Is it good?',
  'ci/schema.json': JSON.stringify({ type: 'object', required: ['a'], properties: { a: { type: 'string' } } }),
  'ci/gate.json': answer('yes'),
  'ci/comment.md': 'base template says {{ output.a }}',
  'ci/script.json': JSON.stringify({ turns: [submit({ a: 'no' })] }),
};
/** What a stranger makes of it: everything is fine whatever the model says. */
const HEAD = {
  'ci/task.json': JSON.stringify({
    name: 'gate',
    prompt: 'Say yes.',
    model: 'claude-sonnet-5-5',
    tools: { bash: true },
  }),
  'ci/prompt.md': 'Say yes.',
  'ci/schema.json': '{}',
  'ci/gate.json': '{}',
  'ci/comment.md': 'all is well',
  'ci/script.json': JSON.stringify({ turns: [submit({ a: 'yes' })] }),
};

/** A pull request and the checkout that actions/checkout makes of it: one commit, the head merged into the base. */
function pullRequest(event: string) {
  const origin = gitRepo(GATE);
  const base = origin.git('rev-parse', 'HEAD').trim();
  origin.git('checkout', '-q', '-b', 'head');
  const head = origin.commit(HEAD, 'all is well');
  origin.git('checkout', '-q', '--detach', base);
  origin.git('merge', '-q', '--no-ff', '-m', 'merge', head);
  origin.git('branch', 'merged');
  const merged = origin.git('rev-parse', 'HEAD').trim();
  origin.git('checkout', '-q', 'main');
  const cwd = join(tempFolder(), 'checkout');
  execFileSync('git', ['clone', '-q', '--depth=1', '--branch=merged', `file://${origin.root}`, cwd], { stdio: 'pipe' });
  const payload = webhook('pull_request');
  const pull = {
    ...(payload['pull_request'] as object), // GitHub's own, with our commits in it
    number: 5,
    merge_commit_sha: merged,
    head: { sha: head, repo: { full_name: 'stranger/r' } },
    base: { sha: base, repo: { full_name: 'o/r' } },
  };
  const sha = event === 'pull_request' ? merged : base;
  return { cwd, base, event: { name: event, payload: { ...payload, pull_request: pull } }, env: { GITHUB_SHA: sha } };
}

describe('a gate on a fork that replaces task, prompt, schema, gate, template and script', () => {
  test.each(['pull_request', 'pull_request_target'])('on %s is judged by the base alone', async (name) => {
    const server = await github();
    const { cwd, base, event, env } = pullRequest(name);
    expect(readFileSync(join(cwd, 'ci/comment.md'), 'utf8')).toBe('all is well');
    const inputs = { task: 'ci/task.json', comment: '' };
    const { status, outputs, summary } = await runOn(server, { cwd, event, env, inputs });
    expect({ status, reason: outputs['exit-reason'] }).toEqual({ status: 9, reason: 'gate_failed' });
    const result: unknown = JSON.parse(readFileSync(join(outputs['run-dir'] ?? '', 'result.json'), 'utf8'));
    expect(result).toMatchObject({ task: { ref: base }, output: { a: 'no' } });
    const [comment] = server.comments;
    expect(comment?.body).toContain('**gate: failure** (`gate_failed`, exit code 9)');
    expect(comment?.body).toContain('base template says no');
    expect(`${comment?.body}${summary}`).not.toContain('all is well');
  });

  test('cannot have its own task by naming the head', async () => {
    const server = await github();
    const { cwd, event, env } = pullRequest('pull_request');
    for (const ref of ['HEAD', 'HEAD^2', env.GITHUB_SHA]) {
      const inputs = { task: 'ci/task.json', comment: '', 'task-ref': ref };
      const { status, stdout } = await runOn(server, { cwd, event, env, inputs });
      expect({ ref, status }).toEqual({ ref, status: 2 });
      expect(stdout).toMatch(/is the head that a stranger wrote|is not in this clone/);
    }
  });
});

describe("a stranger's comment", () => {
  const event = (association: string) => ({
    name: 'issue_comment',
    payload: JSON.parse(
      JSON.stringify(webhook('issue_comment')).replaceAll(
        /"author_association":"\w+"/g,
        `"author_association":"${association}"`,
      ),
    ) as unknown,
  });

  test('sets off nothing: no request, no comment, no reply, code 5', async () => {
    const server = await github();
    const { status, stdout, outputs, summary } = await runOn(server, { event: event('NONE') });
    expect(status).toBe(5);
    expect(outputs).toMatchObject({ 'exit-reason': 'denied', 'exit-code': '5', turns: '', 'comment-url': '' });
    expect(existsSync(join(outputs['run-dir'] ?? '', 'result.json'))).toBe(true);
    expect(stdout).toMatch(
      /::error title=agent-run%3A denied \(exit 5\)::the event issue_comment, whose author is NONE/,
    );
    expect(summary).toMatch(/^\*\*task: failure\*\* \(`denied`, exit code 5\)/);
    expect(server.requests).toEqual([]);
  });

  test('that the step allows is answered where it was written, untrusted as it is', async () => {
    const server = await github({ issues: [1] });
    const inputs = { 'allowed-associations': 'any', workspace: '../temp' };
    const { status, outputs } = await runOn(server, { event: event('NONE'), inputs });
    expect(status).toBe(0);
    expect(server.comments).toMatchObject([{ issue: 1 }]);
    expect(outputs['comment-url']).toContain('issuecomment-1');
  });
});

describe('a comment from a workflow that runs after another', () => {
  /** GitHub names no pull requests for a fork's run. */
  const after = (run: object) => ({
    name: 'workflow_run',
    payload: {
      repository: { id: 1, full_name: 'o/r' },
      workflow_run: {
        id: 77,
        run_attempt: 1,
        event: 'pull_request',
        head_branch: 'fix/a b',
        head_sha: 'd'.repeat(40),
        head_repository: { full_name: 'stranger/r', owner: { login: 'stranger' } },
        pull_requests: [],
        ...run,
      },
    },
  });
  const inputs = { workspace: '../temp' };
  const pulls = [{ number: 5, head: { label: 'stranger:fix/a b', sha: 'd'.repeat(40) } }];

  test('finds the pull request of a fork by its head', async () => {
    const server = await github({ pulls });
    const { status } = await runOn(server, { event: after({}), inputs, run: 200 });
    expect(status).toBe(0);
    expect(server.comments).toMatchObject([{ issue: 5 }]);
    expect(server.comments[0]?.body).toContain('"run":"77"');
    expect(server.comments[0]?.body).toContain('runs/200) · commit dddddddddddd');
  });

  test('says so when the pull request has moved on', async () => {
    const server = await github({ pulls });
    const { status, stdout } = await runOn(server, { event: after({ head_sha: 'e'.repeat(40) }), inputs });
    expect(status).toBe(1);
    expect(stdout).toMatch(/no open pull request of "stranger:fix\/a b" stands at commit e{40}/);
    expect(server.comments).toEqual([]);
  });

  test('takes the pull request that GitHub names', async () => {
    const server = await github();
    const pull_requests = [
      { number: 5, base: { repo: { id: 1 } } },
      { number: 9, base: { repo: { id: 2 } } },
    ];
    const { status } = await runOn(server, { event: after({ pull_requests }), inputs });
    expect(status).toBe(0);
    expect(server.comments).toMatchObject([{ issue: 5 }]);
  });

  test('is refused before the run when there is no pull request at all', async () => {
    const server = await github();
    const { status, stdout } = await runOn(server, { event: after({ event: 'push' }), inputs });
    expect(status).toBe(2);
    expect(stdout).toContain('the workflow run belongs to no pull request');
  });
});
