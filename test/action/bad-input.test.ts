import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { gitRepo } from '../helpers/git-repo.ts';
import { runStep, type StepEnd, type StepSetup } from '../helpers/step.ts';
import { tempFolder } from '../helpers/temp.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

/** The ending of a step that must not be green: its code, and its one error line. */
async function refusal(setup: StepSetup): Promise<{ code: number | null; reason: string | undefined; error: string }> {
  const { status, outputs, stdout, summary }: StepEnd = await runStep(setup);
  const errors = stdout.split('\n').filter((line) => line.startsWith('::error'));
  expect(errors).toHaveLength(1);
  expect(outputs['status']).toBe('failure');
  expect(summary).toContain(`failure** (\`${outputs['exit-reason']}\`, exit code ${status})`);
  return { code: status, reason: outputs['exit-reason'], error: errors[0] ?? '' };
}

/** A checkout with one commit of a repository that goes on behind it, and the commit it lacks. */
function shallow(task: object = {}) {
  const turns = [{ text: 'done' }];
  const definition = { prompt: 'Go.', model: { provider: 'script', id: 's', script: { turns } }, ...task };
  const origin = gitRepo({ 'task.json': JSON.stringify(definition) });
  const base = origin.git('rev-parse', 'HEAD').trim();
  const head = origin.commit({ 'b.txt': 'two\n' });
  const cwd = join(tempFolder(), 'checkout');
  execFileSync('git', ['clone', '-q', '--depth=1', `file://${origin.root}`, cwd], { stdio: 'pipe' });
  const repo = { full_name: 'o/r' };
  const payload = { pull_request: { number: 5, head: { sha: head, repo }, base: { sha: base, repo } } };
  return { cwd, base, origin: origin.root, event: { name: 'pull_request', payload } };
}

describe('inputs', () => {
  test.each([
    ['max-turn', 'did you mean "max-turns"'],
    ['anthropic_api_key', 'did you mean "anthropic-api-key"'],
    ['something', 'the input "something" does not exist'],
  ])('that do not exist are refused: %s', async (name, said) => {
    const { code, error } = await refusal({ inputs: { [name]: '3' } });
    expect(code).toBe(2);
    expect(error).toContain(said);
  });

  test.each([
    [{ task: '' }, 'the input "task" is missing'],
    [{ 'max-turns': 'many' }, 'expected a whole number of at least 1'],
    [{ timeout: '20' }, 'expected a number with a unit'],
    [{ args: 'keep=5' }, 'expected one option a line'],
    [{ 'fail-on': 'always' }, 'expected one of "error", "verdict", "never"'],
  ])('that are empty or wrong are refused: %j', async (inputs, said) => {
    const { code, error } = await refusal({ inputs });
    expect(code).toBe(2);
    expect(error).toContain(said);
  });
});

describe('a checkout', () => {
  test('that nobody made is asked for', async () => {
    const { code, error } = await refusal({ cwd: tempFolder() });
    expect(code).toBe(2);
    expect(error).toContain('the workspace is empty; put `uses: actions/checkout` before this step');
  });

  test('of one commit gets the base of the pull request, for the task and for a diff', async () => {
    const context = [{ git: 'diff', base: 'BASE', head: 'HEAD' }];
    const { cwd, base, event } = shallow({
      inputs: { base: {} },
      context: [{ ...context[0], base: '{{ inputs.base }}' }],
    });
    const { status, outputs } = await runStep({ cwd, event, inputs: { inputs: `base=${base}` } });
    expect({ status, reason: outputs['exit-reason'] }).toEqual({ status: 0, reason: 'completed' });
  });

  test('of one commit whose base cannot be fetched names the fetch-depth', async () => {
    const { cwd, base, origin, event } = shallow();
    rmSync(origin, { recursive: true });
    const { code, error } = await refusal({ cwd, event });
    expect(code).toBe(2);
    expect(error).toContain(
      `"${base}" is not in this clone, which is shallow; set fetch-depth: 0 for actions/checkout`,
    );
  });

  test('of one commit that a diff goes beyond names the fetch-depth', async () => {
    const { cwd, base, origin } = shallow({
      inputs: { base: {} },
      context: [{ git: 'diff', base: '{{ inputs.base }}' }],
    });
    rmSync(origin, { recursive: true });
    const { code, error } = await refusal({ cwd, inputs: { inputs: `base=${base}` } });
    expect(code).toBe(2);
    expect(error).toContain('set fetch-depth: 0 for actions/checkout');
  });
});

describe('an empty diff', () => {
  const diff = (when_empty: string): StepSetup => {
    const repo = gitRepo({ 'a.txt': 'one\n' });
    const context = [{ git: 'diff', base: 'HEAD', head: 'HEAD', when_empty }];
    const script = { turns: [{ text: 'done' }] };
    repo.commit({
      'task.json': JSON.stringify({ prompt: 'Go.', context, model: { provider: 'script', id: 's', script } }),
    });
    return { cwd: repo.root };
  };

  test('ends as the task says: skipped, with the reason in the summary', async () => {
    const { status, outputs, summary } = await runStep(diff('skip'));
    expect({ status, reason: outputs['exit-reason'], turns: outputs['turns'] }).toEqual({
      status: 0,
      reason: 'skipped',
      turns: '0',
    });
    expect(summary).toMatch(/^\*\*task: success\*\* \(`skipped`, exit code 0\).*is empty/);
  });

  test('ends as the task says: failed', async () => {
    const { code, error } = await refusal(diff('fail'));
    expect(code).toBe(2);
    expect(error).toContain('is empty, and its when_empty is "fail"');
  });

  test('is told to the model when the task says nothing', async () => {
    const { status, outputs } = await runStep(diff('run'));
    expect({ status, reason: outputs['exit-reason'] }).toEqual({ status: 0, reason: 'completed' });
  });
});

test('a payload without its pull request is told by that name', async () => {
  const { code, error } = await refusal({ event: { name: 'pull_request', payload: { action: 'opened' } } });
  expect(code).toBe(2);
  expect(error).toContain('the event pull_request, whose payload has no pull_request');
});
