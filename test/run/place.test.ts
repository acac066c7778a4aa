import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { missing } from '../sandbox/inside.ts';
import { gitRepo } from '../helpers/git-repo.ts';
import { tempFolder, writeTree } from '../helpers/temp.ts';
import { calls, ofType, tell, type Story } from './harness.ts';

const AUTO = { sandbox: { mode: 'auto' }, tools: { read_file: {}, bash: { allow: ['cat *', 'ls *', 'sh t.sh'] } } };

/** What the model is told by its calls, one text for each. */
async function results(story: Story): Promise<string[]> {
  const { events } = await tell({ task: AUTO, ...story });
  return ofType(events, 'tool_end').map(({ content }) =>
    content.map((block) => ('text' in block ? block.text : '')).join(),
  );
}

describe.skipIf(missing)('the place of a run (needs bubblewrap)', () => {
  test('has the home that the environment of the run names, empty', async () => {
    const home = writeTree(tempFolder(), { '.netrc': 'do-not-show' });
    const turns = [calls(['bash', { command: `ls -A ${home}` }]), { text: 'done' }];
    expect(await results({ turns, env: { HOME: home } })).toEqual(['(no output)']);
  });

  test('hides the temporary folder of the CI where the workspace holds it', async () => {
    const story = (folder: string): Story => ({
      turns: [
        calls(['bash', { command: 'cat _temp/token' }], ['read_file', { path: '_temp/token' }]),
        { text: 'done' },
      ],
      files: { '_temp/token': 'do-not-show' },
      env: { RUNNER_TEMP: join(folder, 'workspace/_temp') },
      folder,
    });
    const texts = await results(story(tempFolder()));
    expect(texts).toHaveLength(2);
    expect(texts.join()).not.toContain('do-not-show');
  });

  test('is open where the workspace lies in the temporary folder of the CI', async () => {
    const folder = tempFolder();
    const turns = [
      calls(['bash', { command: 'cat README.md' }], ['read_file', { path: 'README.md' }]),
      { text: 'done' },
    ];
    const texts = await results({ turns, env: { RUNNER_TEMP: folder }, folder });
    expect(texts.join()).toMatch(/hello.*hello/s);
  });

  test('keeps its record out of reach, also when the repository holds a link on the way to it', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'workspace/src'), { recursive: true });
    symlinkSync('src', join(folder, 'workspace/results'));
    const forge = 'rm -f results; mkdir results; echo forged > src/run/result.json; ls src/run';
    const turns = [calls(['bash', { command: 'sh t.sh' }]), { text: 'done' }];
    const flags = { out: join(folder, 'workspace/results/run') };
    const told = await tell({ task: AUTO, turns, files: { 't.sh': forge }, flags, folder });
    expect(told.artifact('result.json')).toContain('"run_id"');
    expect(ofType(told.events, 'tool_end')[0]?.content).toEqual([
      { type: 'text', text: expect.stringContaining('Read-only file system') },
    ]);
  });
});

describe.skipIf(missing)('commands beside those of tools (needs bubblewrap)', () => {
  const secret = { WORDS_OF_THE_RUNNER: 'do-not-show' };
  const ENVIRONMENT = "cat /proc/[0-9]*/environ | tr '\\0' '\\n'; touch /usr/local/agent-run-test && echo outside";

  test('of the context and of verify run in the same sandbox', async () => {
    const command = ['sh', '-c', ENVIRONMENT];
    const task = { ...AUTO, context: [{ command }], verify: [{ run: command, attempts: 1 }] };
    const { events } = await tell({ task, turns: [{ text: 'done' }], env: secret });
    const context = ofType(events, 'run_start')[0]?.context[0]?.text ?? '';
    const verify = ofType(events, 'verify_end')[0]?.output ?? '';
    for (const text of [context, verify]) {
      expect(text).toContain('TERM=dumb');
      expect(text).not.toMatch(/do-not-show|^outside$/m);
    }
  });

  test('leave no mount point in the workspace, in its status or in the patch', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'workspace'));
    const repo = gitRepo({ 'README.md': 'hello\n' }, join(folder, 'workspace'));
    const script = 'echo x > new.txt; git status --porcelain';
    const task = { ...AUTO, verify: [{ run: ['sh', '-c', script], attempts: 1 }] };
    const run = await tell({ task, turns: [{ text: 'done' }], folder });
    expect(ofType(run.events, 'verify_end')[0]?.output).toBe('?? new.txt\n');
    expect(run.artifact('changes.patch')?.match(/^diff --git .*/gm)).toEqual(['diff --git a/new.txt b/new.txt']);
    expect(repo.git('status', '--porcelain')).toBe('?? new.txt\n');
    expect(readdirSync(run.workspace).sort()).toEqual(['.git', 'README.md', 'new.txt']);
  });
});
