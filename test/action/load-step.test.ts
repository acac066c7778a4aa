import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readInputs } from '../../src/action/inputs.ts';
import { loadStep, type Step } from '../../src/action/load-step.ts';
import { gitRepo } from '../helpers/git-repo.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';

const taskFor = (prompt: string): string => JSON.stringify({ prompt, model: 'claude-sonnet-5-5' });

interface Setup {
  event?: string;
  /** The repository of the head; `o/r` is the base's. */
  from?: string;
  inputs?: Record<string, string>;
  /** Files of the head; `ci/task.json` asks for "head" by default. */
  head?: Record<string, string>;
  env?: Record<string, string>;
}

/** A pull request: a depth-1 checkout of its head, whose base commit the checkout lacks, and the step's environment. */
function pullRequest({ event = 'pull_request', from = 'o/r', head, env = {} }: Setup) {
  const origin = gitRepo({ 'ci/task.json': taskFor('base'), 'ci/only-base.json': taskFor('base only') });
  const base = origin.git('rev-parse', 'HEAD').trim();
  const sha = origin.commit({ 'ci/task.json': taskFor('head'), ...head });
  const root = join(tempFolder(), 'checkout');
  execFileSync('git', ['clone', '-q', '--depth=1', `file://${origin.root}`, root], { stdio: 'pipe' });
  const repo = (full_name: string): object => ({ repo: { full_name } });
  const payload = { pull_request: { head: { sha, ...repo(from) }, base: { sha: base, ...repo('o/r') } } };
  const folder = tempTree({ 'event.json': JSON.stringify(payload) });
  const github = { GITHUB_EVENT_NAME: event, GITHUB_EVENT_PATH: join(folder, 'event.json'), RUNNER_TEMP: folder };
  return { root, base, sha, env: { PATH: process.env['PATH'] ?? '', ...github, ...env } };
}

type Checkout = { root: string; env: Record<string, string> };

async function load({ root, env }: Checkout, inputs: Record<string, string> = {}): Promise<Step> {
  const given: Record<string, string> = { task: 'ci/task.json', ...inputs };
  return loadStep(await readInputs((name) => given[name] ?? ''), env, root);
}

describe('the task of a step', () => {
  test.each([
    ['pull_request', 'o/r', false],
    ['pull_request', 'stranger/r', true],
    ['pull_request_target', 'stranger/r', true],
  ])('on %s from %s comes from the base commit, which is fetched', async (event, from, untrusted) => {
    const pull = pullRequest({ event, from });
    const { config } = await load(pull);
    expect(config).toMatchObject({ untrusted, task: { prompts: ['base'], ref: pull.base } });
  });

  test('that the pull request adds is not there before it is merged, and the step says why', async () => {
    const pull = pullRequest({ head: { 'ci/new.json': taskFor('new') } });
    const message = new RegExp(
      `ci/new.json": no such file in ${pull.base} \\(the base of the event, .*once it is merged`,
    );
    await expect(load(pull, { task: 'ci/new.json' })).rejects.toThrow(message);
    expect((await load(pull, { task: 'ci/only-base.json' })).config.task.prompts).toEqual(['base only']);
  });

  test('comes from the commit that task-ref names, unless a stranger wrote it', async () => {
    const own = pullRequest({});
    expect((await load(own, { 'task-ref': 'HEAD' })).config.task).toMatchObject({ prompts: ['head'], ref: own.sha });
    const fork = pullRequest({ from: 'stranger/r' });
    await expect(load(fork, { 'task-ref': 'HEAD' })).rejects.toThrow(`name a commit of the base: ${fork.base}`);
    const named = await load({ ...fork, env: { ...fork.env, AGENT_RUN_TASK_REF: fork.base } });
    expect(named.config.task.ref).toBe(fork.base);
  });

  test('that lies outside the checkout is read where it lies', async () => {
    const pull = pullRequest({ from: 'stranger/r' });
    const task = join(tempTree({ 'task.json': taskFor('outside') }), 'task.json');
    expect((await load(pull, { task })).config.task).toMatchObject({ prompts: ['outside'], ref: null });
  });

  test('on an event about an issue comes from the commit of the default branch', async () => {
    const pull = pullRequest({});
    const event = { GITHUB_EVENT_NAME: 'issue_comment', GITHUB_EVENT_PATH: '', GITHUB_SHA: pull.base };
    const { config } = await load({ root: pull.root, env: { ...pull.env, ...event } });
    expect(config).toMatchObject({ untrusted: true, task: { prompts: ['base'], ref: pull.base } });
  });

  test('of a checkout that is no repository is read from it, but not for a stranger', async () => {
    const root = tempTree({ 'ci/task.json': taskFor('plain') });
    const { env } = pullRequest({});
    expect((await load({ root, env })).config.task).toMatchObject({ prompts: ['plain'], ref: null });
    const fork = pullRequest({ from: 'stranger/r' });
    await expect(load({ root, env: fork.env })).rejects.toThrow('a stranger may have written');
  });

  test('on a push comes from the checkout', async () => {
    const pull = pullRequest({});
    const { config } = await load({ root: pull.root, env: { ...pull.env, GITHUB_EVENT_NAME: 'push' } });
    expect(config.task).toMatchObject({ prompts: ['head'], ref: null });
  });
});

describe('what a step publishes', () => {
  const load = async (github: object | undefined, inputs: Record<string, string> = {}): Promise<Step> => {
    const task = { prompt: 'x', model: 'claude-sonnet-5-5', ...(github === undefined ? {} : { github }) };
    const root = tempTree({ 'task.json': JSON.stringify(task), 'event.json': '{"issue":{"number":5}}' });
    const given: Record<string, string> = { task: join(root, 'task.json'), ...inputs };
    const event = {
      GITHUB_EVENT_NAME: 'issues',
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_EVENT_PATH: join(root, 'event.json'),
    };
    const env = { RUNNER_TEMP: tempFolder(), ...event };
    return loadStep(await readInputs((name) => given[name] ?? ''), env, tempFolder());
  };

  test.each([
    [undefined, {}, { summary: true, annotations: true }],
    [{}, {}, { summary: true, annotations: true }],
    [{ summary: false }, {}, { summary: false, annotations: true }],
    [{ annotations: false, comment: false }, {}, { summary: true, annotations: false }],
    [{ summary: true }, { summary: 'false' }, { summary: false, annotations: true }],
    [{ annotations: true }, { annotations: 'false' }, { summary: true, annotations: false }],
  ])('with %j in the task and %j in the step is %j', async (github, inputs, expected) => {
    expect(await load(github, inputs)).toMatchObject(expected);
  });

  test('is a comment when task or step ask for one and neither forbids it', async () => {
    const token = { 'github-token': 'ghs_1' };
    const wanted = [
      await load({ comment: true }, token),
      await load({ comment: { sticky: false } }, { ...token, comment: 'true' }),
      await load(undefined, { ...token, comment: 'true' }),
      await load({ comment: true }, { ...token, comment: 'false' }),
      await load({ comment: false }, { ...token, comment: 'true' }),
      await load({}, token),
    ].map(({ comment }) => comment?.comment);
    const sticky = { template: null, sticky: true };
    expect(wanted).toEqual([sticky, { template: null, sticky: false }, sticky, undefined, undefined, undefined]);
    await expect(load({ comment: true })).rejects.toThrow('the input "github-token" is empty');
  });
});
