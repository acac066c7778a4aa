import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gitRepo } from '../helpers/git-repo.ts';
import { tempFolder } from '../helpers/temp.ts';
import { ofType, tell } from './harness.ts';

test('a run in a shallow checkout fetches its range before anything of the workspace runs', async () => {
  const origin = gitRepo({ 'a.txt': 'one\n' });
  origin.git('checkout', '-q', '-b', 'feature');
  origin.commit({ 'b.txt': 'feature\n' });
  origin.git('checkout', '-q', 'main');
  const base = origin.commit({ 'c.txt': 'main\n' });
  const workspace = join(tempFolder(), 'checkout');
  const clone = ['clone', '-q', '--depth=1', '--branch', 'feature', `file://${origin.root}`, workspace];
  execFileSync('git', clone, { stdio: 'pipe' });
  const context = [{ command: ['git', 'cat-file', '-t', base] }, { git: 'diff', base, head: 'HEAD' }];
  const { events, outcome, result } = await tell({
    task: { context },
    turns: [{ text: 'seen' }],
    flags: { workspace },
  });
  expect(outcome).toEqual({ reason: 'completed' });
  const parts = ofType(events, 'run_start')[0]?.context ?? [];
  expect(parts.map(({ text }) => text)).toEqual([
    expect.stringContaining('commit'),
    expect.stringMatching(/^diff --git a\/b\.txt b\/b\.txt[^]*\+feature\n$/),
  ]);
  expect(result.warnings).toEqual([]);
});
