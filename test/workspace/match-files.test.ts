import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { matchFiles } from '../../src/workspace/match-files.ts';
import { tempTree } from '../helpers/temp.ts';

test('a glob matches links to files as a shell does, names dead ones, and follows no link to a folder', async () => {
  const cwd = tempTree({ 'ci/a.json': '', 'ci/.hidden.json': '', 'other/b.json': '', 'other/deep/c.json': '' });
  symlinkSync('../other/b.json', join(cwd, 'ci/linked.json'));
  symlinkSync('nowhere', join(cwd, 'ci/dead.json'));
  symlinkSync('../other', join(cwd, 'ci/folder'));
  symlinkSync('.', join(cwd, 'ci/loop'));
  mkdirSync(join(cwd, 'ci/folder.json'));
  expect(await matchFiles('ci/*.json', cwd)).toEqual(['ci/a.json', 'ci/dead.json', 'ci/linked.json']);
  expect(await matchFiles('ci/**/*.json', cwd)).toEqual(['ci/a.json', 'ci/dead.json', 'ci/linked.json']);
  expect(await matchFiles('ci/folder/*.json', cwd)).toEqual(['ci/folder/b.json']);
});
