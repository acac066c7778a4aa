import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resume } from '../../src/run/resume.ts';
import { gitRepo } from '../helpers/git-repo.ts';
import { ofType, tell, told } from './harness.ts';

const PATH = { PATH: process.env['PATH'] ?? '' };
const again = (run_dir: string, env: Record<string, string>) =>
  resume({ run_dir, prompt: 'And?', limits: {}, allow_changed: true, env: { ...PATH, ...env }, subscribers: () => [] });

describe('a run that goes on', () => {
  const turns = [{ text: 'one' }, { text: 'two' }];

  test('is untrusted when the CI says so now, whatever its transcript says', async () => {
    const task = { tools: { bash: { allow: ['true'] } } }; // the sandbox is off, which a stranger must not choose
    const first = await tell({ task, turns });
    expect(ofType(first.events, 'run_start')[0]?.untrusted).toBe(false);
    const untrusted = again(first.run_dir, { GITHUB_EVENT_NAME: 'issue_comment' });
    await expect(untrusted).rejects.toMatchObject({ reason: 'sandbox_unavailable' });
    const trusted = told(await again((await tell({ task, turns })).run_dir, {}), first.workspace);
    expect(trusted.output_text).toBe('two');
  });

  test('is refused for a stranger when its folder came with the checkout', async () => {
    const repo = gitRepo({ 'README.md': 'x' });
    const out = join(repo.root, 'results');
    await tell({ turns, flags: { workspace: repo.root, out } });
    repo.commit({});
    await expect(again(out, { AGENT_RUN_UNTRUSTED: '1' })).rejects.toThrow('is part of the checkout');
    // Refusing gives the folder free again.
    expect((await again(out, {})).outcome.reason).toBe('completed');
  });

  test('goes on for a stranger in a folder that the runner made inside the checkout', async () => {
    const repo = gitRepo({ 'README.md': 'x', '.gitignore': 'results\n' });
    const out = join(repo.root, 'results');
    const task = { sandbox: { mode: 'off', allow_untrusted: true } };
    await tell({ turns, task, flags: { workspace: repo.root, out } });
    expect((await again(out, { AGENT_RUN_UNTRUSTED: '1' })).outcome.reason).toBe('completed');
  });
});
