import { chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { gitRepo } from '../helpers/git-repo.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { diffRun, firstMessage } from './git-cases.ts';
import { resultsOf } from './requests.ts';
import type { Case } from './place.ts';

vi.setConfig({ testTimeout: 30_000 });

describe('what changed', () => {
  test('B125: is all there or the number left out is said, in the prompt and in the result', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 350 }, (_, index) => [`src/file${index}.ts`, `line ${index}\n`]),
    );
    let base = '';
    const prepare: Case['prepare'] = ({ workspace }) => {
      const repo = gitRepo({ 'a.txt': 'a' }, workspace);
      base = repo.git('rev-parse', 'HEAD').trim();
      repo.commit(files);
      repo.git('tag', 'base', base);
    };
    const all = await diffRun({ base: 'base', head: 'HEAD', max_size: '5MB' }, { prepare });
    expect(firstMessage(all).match(/^diff --git /gm)).toHaveLength(350);
    const cut = await diffRun({ base: 'base', head: 'HEAD', max_size: '10KiB' }, { prepare });
    const shown = firstMessage(cut).match(/^diff --git /gm)?.length ?? 0;
    const note = new RegExp(`350 files changed, ${350 - shown} of them do not stand here`);
    expect(firstMessage(cut)).toMatch(note);
    expect(cut.result.context[0]?.notes.join('\n')).toMatch(note);
    expect(cut.result.context[0]?.omitted_bytes).toBeGreaterThan(0);
  });

  test('B127: comes with every kind of change: renames, binaries, modes, types, submodules, deletions', async () => {
    const run = await diffRun(
      { base: 'base', head: 'HEAD' },
      {
        prepare: ({ workspace }) => {
          const binary = Buffer.from([0, 1, 2, 3, ...Array.from({ length: 200 }, (_, index) => index % 256)]);
          const repo = gitRepo(
            {
              'gone.txt': 'x\n',
              'old.txt': 'same text\n'.repeat(20),
              'old.bin': binary,
              'run.sh': 'echo\n',
              'type.txt': 'x\n',
            },
            workspace,
          );
          repo.git('tag', 'base');
          rmSync(join(workspace, 'gone.txt'));
          repo.git('mv', 'old.txt', 'new.txt');
          repo.git('mv', 'old.bin', 'new.bin');
          chmodSync(join(workspace, 'run.sh'), 0o755);
          rmSync(join(workspace, 'type.txt'));
          symlinkSync('new.txt', join(workspace, 'type.txt'));
          repo.commit({ 'added.txt': 'new\n' });
          repo.git('update-index', '--add', '--cacheinfo', `160000,${'c'.repeat(40)},module`);
          repo.git('commit', '-q', '-m', 'a module');
        },
      },
    );
    const text = firstMessage(run);
    for (const part of [
      'deleted file mode',
      'rename from old.txt',
      'rename to new.bin',
      'old mode 100644\nnew mode 100755',
      'new file mode 120000',
      'Subproject commit',
      'b/added.txt',
    ]) {
      expect(text, part).toContain(part);
    }
  });

  test('B129: has names as they are on disk, and marks one that is not UTF-8', async () => {
    const run = await diffRun(
      { base: 'base', head: 'HEAD' },
      {
        task: { tools: { read_file: {}, glob: {} }, context: [{ git: 'diff', base: 'base', head: 'HEAD' }] },
        replies: [
          reply.tools([
            { name: 'read_file', input: { path: 'docs/日本語/sample.md' } },
            { name: 'glob', input: { pattern: 'docs/**' } },
          ]),
          'done',
        ],
        prepare: ({ workspace }) => {
          const repo = gitRepo({ 'a.txt': 'a' }, workspace);
          repo.git('tag', 'base');
          writeFileSync(Buffer.concat([Buffer.from(join(workspace, 'caf')), Buffer.from([0xe9])]), 'x\n');
          repo.commit({ 'docs/日本語/sample.md': 'text\n' });
        },
      },
    );
    const text = firstMessage(run);
    expect(text).toContain('b/docs/日本語/sample.md');
    expect(text).not.toMatch(/\\\d{3}/);
    expect(text).toContain(String.raw`caf\xe9`);
    expect(run.result.context[0]?.notes.join()).toContain('not UTF-8');
    expect(resultsOf(run.turns[1])).toMatchObject([
      { is_error: false, text: '     1\ttext' },
      { text: 'docs/日本語/sample.md' },
    ]);
  });
});
