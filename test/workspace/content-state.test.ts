import { chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contentState } from '../../src/workspace/content-state.ts';
import { gitRepo } from '../helpers/git-repo.ts';
import { tempTree, writeTree } from '../helpers/temp.ts';

const stateOf = (root: string, exclude: string[] = []): Promise<string | null> =>
  contentState({ root, env: { PATH: process.env['PATH'] ?? '' }, exclude, timeout_ms: 30_000 });

const FILES = { 'a.txt': '1', 'sub/b.txt': '2' };

describe.each([
  ['a folder', (files: Record<string, string>) => tempTree(files)],
  ['a repository', (files: Record<string, string>) => gitRepo(files).root],
])('the state of %s', (_kind, place) => {
  test('is another after each kind of change, and the same when it is taken back', async () => {
    const root = place(FILES);
    const before = await stateOf(root);
    const changes: [what: string, make: () => void, undo: () => void][] = [
      ['text', () => writeFileSync(join(root, 'a.txt'), '2'), () => writeFileSync(join(root, 'a.txt'), '1')],
      ['a new file', () => writeFileSync(join(root, 'sub/c'), ''), () => rmSync(join(root, 'sub/c'))],
      ['a link', () => symlinkSync('a.txt', join(root, 'l')), () => rmSync(join(root, 'l'))],
      ['the right to run', () => chmodSync(join(root, 'a.txt'), 0o755), () => chmodSync(join(root, 'a.txt'), 0o644)],
    ];
    chmodSync(join(root, 'a.txt'), 0o644);
    const plain = await stateOf(root);
    for (const [what, make, undo] of changes) {
      make();
      expect(await stateOf(root), what).not.toBe(plain);
      undo();
      expect(await stateOf(root), what).toBe(plain);
    }
    expect(before?.split(':')[0]).toBe(plain?.split(':')[0]);
  });

  test('knows nothing of what is excluded', async () => {
    const root = place(FILES);
    const exclude = [join(root, 'out'), join(root, 'log.txt')];
    const before = await stateOf(root, exclude);
    writeTree(root, { 'out/x': '1', 'log.txt': '2' });
    expect(await stateOf(root, exclude)).toBe(before);
  });
});

test('a workspace that its repository ignores is looked at file by file', async () => {
  const { root } = gitRepo({ '.gitignore': 'work/\n' });
  writeTree(root, { 'work/a.txt': '1' });
  const before = await stateOf(join(root, 'work'));
  writeTree(root, { 'work/a.txt': '2' });
  expect(before).toMatch(/^files:/);
  expect(await stateOf(join(root, 'work'))).not.toBe(before);
});

test('a folder with more entries than can be looked at in time has none', async () => {
  const place = { root: tempTree(FILES), env: { PATH: process.env['PATH'] ?? '' }, exclude: [], timeout_ms: 30_000 };
  expect(await contentState({ ...place, most_entries: 2 })).toBeNull();
  expect(await contentState({ ...place, most_entries: 3 })).toMatch(/^files:/);
});
