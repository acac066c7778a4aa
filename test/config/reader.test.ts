import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempFolder, tempTree, writeTree } from '../helpers/temp.ts';
import { load, refusal } from './loading.ts';

const [BASE, HEAD, MERGE] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string]; // three of three
const TASK = '{ "prompt": "x", "model": "claude-sonnet-5-5" }';
const WITH_FILE = '{ "prompt": { "file": "prompt.md" }, "model": "claude-sonnet-5-5" }';

/** The variables of a pull request from a fork. */
function fork(): Record<string, string> {
  const pull_request = {
    head: { sha: HEAD, repo: { full_name: 'stranger/r' } },
    base: { sha: BASE, repo: { full_name: 'o/r' } },
  };
  const folder = tempTree({ 'event.json': JSON.stringify({ pull_request }) });
  const path = join(folder, 'event.json');
  return { GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH: path, GITHUB_SHA: MERGE };
}

describe('the task of an untrusted run', () => {
  test('is refused inside the checkout, with the commit to take it from', async () => {
    const message = await refusal({ folder: tempFolder(), files: { 'task.json': TASK }, env: fork() });
    expect(message).toContain('the task "task.json": it lies in the checkout');
    expect(message).toContain('the event pull_request from a fork');
    expect(message).toContain(`--task-ref ${BASE}`);
  });

  test('is refused above the workspace too, as far as the repository goes', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, '.git'));
    mkdirSync(join(folder, 'packages/app'), { recursive: true });
    const flags = { workspace: 'packages/app' };
    const files = { 'ci/task.json': TASK };
    expect(await refusal({ folder, files, file: 'ci/task.json', env: fork(), flags })).toContain('in the checkout');
  });

  test('is refused behind a link, whichever way it leads', async () => {
    const outside = tempTree({ 'task.json': TASK });
    const workspace = tempTree({ 'task.json': TASK });
    symlinkSync(join(outside, 'task.json'), join(workspace, 'out.json'));
    symlinkSync(join(workspace, 'task.json'), join(outside, 'in.json'));
    const flags = { workspace };
    for (const file of [join(workspace, 'out.json'), 'in.json']) {
      expect(await refusal({ folder: outside, file, env: fork(), flags })).toContain('in the checkout');
    }
    expect((await load({ folder: outside, env: fork(), flags })).untrusted).toBe(true);
  });

  test('names no file of the checkout either, also when it comes from standard input', async () => {
    const folder = tempTree({ 'prompt.md': 'Allow all.' });
    const message = await refusal({ folder, file: '-', stdin: WITH_FILE, env: fork() });
    expect(message).toMatch(/\/prompt\/file\): found "prompt\.md", which cannot be read: it lies in the checkout/);
    const replaced = TASK.replace('"x"', '"x", "prompts": { "system": { "file": "prompt.md" } }');
    expect(await refusal({ folder, file: '-', stdin: replaced, env: fork() })).toContain('it lies in the checkout');
  });

  test.each([
    [
      'a merge request',
      { CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '2', CI_PROJECT_ID: '1', CI_MERGE_REQUEST_DIFF_BASE_SHA: BASE },
      BASE,
    ],
    ['a change request', { CHANGE_FORK: 'stranger', CHANGE_TARGET: 'main' }, 'origin/main'],
    ['a comment', { GITHUB_EVENT_NAME: 'issue_comment', GITHUB_SHA: BASE }, BASE],
    ['an option', { AGENT_RUN_UNTRUSTED: '1' }, 'BASE'],
  ])('is told the commit that the CI names for %s', async (_what, env: Record<string, string>, commit) => {
    const message = await refusal({ folder: tempFolder(), files: { 'task.json': TASK }, env });
    expect(message).toContain(`--task-ref ${commit}`);
  });
});

describe('the task of a trusted run', () => {
  test('may lie in the workspace', async () => {
    expect((await load({ folder: tempFolder(), files: { 'task.json': TASK } })).task.ref).toBe(null);
  });
});

describe('--task-ref', () => {
  const opened: { ref: string; folder: string }[] = [];
  const openCommit = (commit: string) => (ref: string, folder: string) => {
    opened.push({ ref, folder });
    const read = (path: string) =>
      Promise.resolve({ ok: true as const, text: path.endsWith('.md') ? 'Old.' : WITH_FILE });
    const list = () => Promise.resolve({ ok: false as const, reason: 'not listed here' });
    return Promise.resolve({ commit, read, list });
  };

  test('takes the task and what it names from the commit, in untrusted runs too', async () => {
    const folder = writeTree(tempFolder(), { 'task.json': TASK, 'prompt.md': 'New.' });
    const env = { ...fork(), AGENT_RUN_TASK_REF: 'main' };
    const { task } = await load({ folder, env, openCommit: openCommit(BASE) });
    expect(task).toMatchObject({ prompts: ['Old.'], ref: BASE });
    expect(opened.pop()).toEqual({ ref: 'main', folder });
  });

  test('means the repository that holds the task: that of the workspace, else that of the current folder', async () => {
    const [folder, workspace] = [tempFolder(), tempFolder()];
    const flags = { 'task-ref': 'main', workspace };
    await load({ folder, flags, openCommit: openCommit(BASE) });
    await load({ folder, flags, openCommit: openCommit(BASE), file: join(workspace, 'ci/task.json') });
    expect(opened.splice(0).map((call) => call.folder)).toEqual([folder, workspace]);
  });

  test.each([HEAD, MERGE])('is refused when it names what the stranger wrote: %s', async (commit) => {
    const flags = { 'task-ref': 'HEAD' };
    const message = await refusal({ folder: tempFolder(), flags, env: fork(), openCommit: openCommit(commit) });
    expect(message).toContain('"HEAD" is the head that a stranger wrote');
    expect(message).toContain(BASE);
  });

  test('does not go with a task on standard input', async () => {
    const flags = { 'task-ref': 'main' };
    expect(await refusal({ folder: tempFolder(), file: '-', stdin: TASK, flags })).toContain('expected a task file');
  });
});
