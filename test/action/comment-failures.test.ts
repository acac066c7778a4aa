import { describe, expect, test, vi } from 'vitest';
import type { StepSetup } from '../helpers/step.ts';
import { github, PULL, runOn, strangers } from '../helpers/github-server/step.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const POST = 'POST /repos/o/r/issues/5/comments';
const LIST = 'GET /repos/o/r/issues/5/comments';
const errorsIn = (stdout: string): string[] => stdout.split('\n').filter((line) => line.startsWith('::error'));

describe('a comment that cannot be posted', () => {
  test.each([
    [{ on: POST, status: 403, message: 'Resource not accessible by integration' }, 'pull-requests: write'],
    [{ on: LIST, status: 401, message: 'Bad credentials' }, 'a token that is valid'],
    [{ on: LIST, status: 404, message: 'Not Found' }, 'the token may not see it'],
    [{ on: POST, status: 422, message: 'Validation Failed' }, 'GitHub answered 422, "Validation Failed"'],
    [{ on: LIST, status: 301, headers: { location: 'http://127.0.0.1:1/' } }, 'GitHub answered 301'],
    [{ on: POST, status: 403, headers: { 'retry-after': '3600' } }, 'longer than a step waits'],
    [{ on: LIST, status: 429, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '4000000000' } }, 'longer'],
  ])('because of %j fails the step with its reason', async (fault, reason) => {
    const server = await github();
    server.fail({ ...fault, times: 9 });
    const { status, stdout, outputs } = await runOn(server, {});
    expect(status).toBe(1);
    expect(errorsIn(stdout)).toEqual([expect.stringContaining(reason)]);
    expect(errorsIn(stdout)[0]).toContain('the comment cannot be posted: ');
    expect(outputs).toMatchObject({ status: 'success', 'exit-code': '0', 'comment-url': '' });
    expect(server.comments).toEqual([]);
  });

  test.each([
    ['error', 1],
    ['verdict', 1],
    ['never', 0],
  ])('with fail-on %s ends the step with %i', async (word, code) => {
    const server = await github();
    server.fail({ on: POST, status: 403, message: 'no' });
    const { status, stdout } = await runOn(server, { inputs: { 'fail-on': word } });
    expect({ status, errors: errorsIn(stdout).length }).toEqual({ status: code, errors: 1 });
  });

  test('adds its reason to the one error line of a run that failed', async () => {
    const server = await github();
    server.fail({ on: POST, status: 403, message: 'no' });
    const { status, stdout } = await runOn(server, { turns: [{ error: { status: 400, message: 'bad' } }] });
    expect(status).toBe(6);
    expect(errorsIn(stdout)).toEqual([expect.stringMatching(/api_error \(exit 6\).*; the comment cannot be posted/)]);
  });

  test('because nobody listens says so', async () => {
    const server = await github();
    const gone = { ...server, url: 'http://127.0.0.1:1' };
    const { status, stdout } = await runOn(gone, {});
    expect(status).toBe(1);
    expect(errorsIn(stdout)[0]).toContain('no answer from 127.0.0.1:1');
  });
});

describe('GitHub that has a bad day', () => {
  test.each([
    ['a secondary limit', { on: POST, status: 403, headers: { 'retry-after': '1' }, message: 'secondary rate limit' }],
    ['too many requests', { on: LIST, status: 429, headers: { 'retry-after': '1' } }],
    ['an error of its own', { on: LIST, status: 502 }],
    ['a connection that breaks', { on: LIST, drop: 'before' as const }],
    ['a POST that never arrived', { on: POST, drop: 'before' as const }],
    ['a POST whose answer got lost', { on: POST, drop: 'after' as const }],
    ['a POST that ends in 500', { on: POST, status: 500 }],
    ['a comment that was deleted meanwhile', { on: 'PATCH', status: 404 }],
  ])('by %s gets one comment all the same', async (_what, fault) => {
    const server = await github();
    server.fail(fault);
    const { status, outputs } = await runOn(server, {});
    expect(status).toBe(0);
    expect(server.comments).toHaveLength(1);
    expect(outputs['comment-url']).toMatch(/issuecomment-1$/);
  });

  test('never sees the same comment of a run posted twice, also when comments are not updated', async () => {
    const server = await github();
    server.fail({ on: POST, drop: 'after' });
    await runOn(server, { task: { github: { comment: { sticky: false } } } });
    expect(server.comments).toHaveLength(1);
  });

  test('and two first runs at the same time come to one comment, the newer', async () => {
    const server = await github();
    let other: ReturnType<typeof runOn> | undefined;
    server.onRequest(({ method }) => {
      // The older run has seen that there is no comment yet.
      if (method === 'POST' && other === undefined) other = runOn(server, { turns: [{ text: 'newer' }], run: 101 });
    });
    await runOn(server, { turns: [{ text: 'older' }], run: 100 });
    await other;
    expect(server.comments.map(({ body }) => body)).toEqual([expect.stringContaining('newer')]);
  });
});

const { number: _number, ...pull } = PULL.pull_request;
const NUMBERLESS = { pull_request: pull };
/** The task lies outside of what a stranger may have written, and everybody may set off the run. */
const OUTSIDE = { task: '../checkout/task.json', workspace: '../temp', 'allowed-associations': 'any' };

describe('what a comment needs', () => {
  test.each<[StepSetup, string]>([
    [{ inputs: { 'github-token': '' } }, 'the input "github-token" is empty'],
    [{ inputs: { 'comment-key': 'k'.repeat(101) } }, 'has 101 characters, expected at most 100'],
    [{ event: { name: 'push', payload: {} } }, 'the event "push" is about no pull request or issue'],
    [{ event: { name: 'pull_request', payload: NUMBERLESS } }, 'the event pull_request has no pull_request.number'],
    [{ event: { name: 'issue_comment', payload: {} }, inputs: OUTSIDE }, 'no issue.number'],
    [{ env: { GITHUB_EVENT_PATH: '/nowhere' } }, 'cannot be read'],
    [{ env: { GITHUB_REPOSITORY: '' } }, 'GITHUB_REPOSITORY is ""'],
    [{ inputs: { comment: 'maybe' } }, 'the input "comment": found "maybe"'],
    [{ task: { github: { comment: { template: '{{ rum.status }}' } } } }, '"rum" does not exist in this template'],
  ])('is checked before anything is spent: %j', async (setup, reason) => {
    const server = await github();
    const { status, stdout, outputs } = await runOn(server, { cwd: undefined, ...setup } as Parameters<
      typeof runOn
    >[1]);
    expect(errorsIn(stdout)).toEqual([expect.stringContaining(reason)]);
    expect(status).toBe(2);
    expect(outputs).toMatchObject({ 'exit-reason': 'config_error', 'total-input-tokens': '' });
    expect(server.comments.filter(({ body }) => !body.includes('config_error'))).toEqual([]);
  });

  test('of a body above the limit of GitHub is a cut with the way to the whole', async () => {
    const server = await github({ comments: strangers(1) });
    const { status } = await runOn(server, { turns: [{ text: 'a line of text\n'.repeat(10_000) }] });
    expect(status).toBe(0);
    const body = server.comments[1]?.body ?? '';
    expect(body.length).toBeLessThanOrEqual(65_536);
    expect(body.length).toBeGreaterThan(60_000);
    expect(body).toContain(
      '*Cut here: a comment holds no more. The whole is in the summary and the files of [the run](',
    );
    expect(body.match(/^```/gm)).toHaveLength(2);
    expect(server.violations).toEqual([]);
  });
});

describe('a step that is cancelled', () => {
  test('during its run says so in the place of the earlier verdict', async () => {
    const server = await github();
    await runOn(server, {});
    const { status, outputs } = await runOn(server, {
      turns: [{ delay_ms: 50_000, text: 'late' }],
      run: 101,
      onStart: (kill) => kill('SIGINT'),
    });
    expect(status).toBe(130);
    expect(server.comments.map(({ body }) => body)).toEqual([expect.stringContaining('cancelled** (`cancelled`')]);
    expect(outputs).toMatchObject({ status: 'cancelled', 'comment-url': expect.stringContaining('issuecomment-1') });
  });

  test('gives GitHub three seconds then, and has its outputs', async () => {
    const server = await github();
    server.fail({ on: LIST, status: 429, headers: { 'retry-after': '60' } });
    const started = Date.now();
    const { status, outputs } = await runOn(server, {
      turns: [{ delay_ms: 50_000, text: 'late' }],
      onStart: (kill) => kill('SIGTERM'),
    });
    expect({ status, ended: outputs['exit-code'] }).toEqual({ status: 143, ended: '143' });
    expect(Date.now() - started).toBeLessThan(15_000);
  });

  test('while it waits for GitHub waits no longer, and fails', async () => {
    const server = await github();
    server.fail({ on: LIST, status: 429, headers: { 'retry-after': '60' }, times: 9 });
    let stop: (signal: NodeJS.Signals) => void = () => {};
    server.onRequest(({ path }) => path.includes('/comments') && void setTimeout(() => stop('SIGTERM'), 300));
    const { status, stdout, outputs } = await runOn(server, { onStart: (kill) => (stop = kill) });
    expect({ status, outcome: outputs['exit-reason'] }).toEqual({ status: 1, outcome: 'completed' });
    expect(errorsIn(stdout)).toEqual([expect.stringContaining('the comment cannot be posted')]);
  });
});

test('a comment on a fork is refused by GitHub, and the step says how it is done', async () => {
  const server = await github();
  server.fail({ on: POST, status: 403, message: 'Resource not accessible by integration' });
  const payload = structuredClone(PULL);
  payload.pull_request.head.repo.full_name = 'stranger/r';
  const { status, stdout } = await runOn(server, {
    event: { name: 'pull_request', payload },
    inputs: OUTSIDE,
  });
  expect(status).toBe(1);
  expect(errorsIn(stdout)[0]).toContain('publish from a second job');
});
