import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeStaleMarks } from '../../src/sandbox/marks.ts';
import { tempFolder } from '../helpers/temp.ts';

test('what a killed run covered is removed: empty read-only files and empty folders', () => {
  const workspace = tempFolder();
  for (const name of ['AGENTS.md', '.gitattributes', '.mcp.json']) {
    writeFileSync(join(workspace, name), '');
    chmodSync(join(workspace, name), 0o444);
  }
  mkdirSync(join(workspace, '.github', 'workflows'), { recursive: true });
  mkdirSync(join(workspace, '.claude'));
  mkdirSync(join(workspace, '.git'));
  removeStaleMarks(workspace);
  expect(readdirSync(workspace)).toEqual([]);
});

test('what somebody wrote stays: a file with a word in it, an empty one of one’s own, a folder with a file', () => {
  const workspace = tempFolder();
  writeFileSync(join(workspace, 'AGENTS.md'), 'words');
  chmodSync(join(workspace, 'AGENTS.md'), 0o444);
  writeFileSync(join(workspace, 'CLAUDE.md'), '');
  mkdirSync(join(workspace, '.github', 'workflows'), { recursive: true });
  writeFileSync(join(workspace, '.github', 'workflows', 'ci.yml'), 'on: push');
  removeStaleMarks(workspace);
  for (const name of ['AGENTS.md', 'CLAUDE.md', '.github/workflows/ci.yml']) {
    expect(existsSync(join(workspace, name))).toBe(true);
  }
});
