import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadRun } from '../../src/config/load.ts';
import { mergeOptions } from '../../src/config/merge.ts';
import { replay } from '../../src/run/replay.ts';
import { resume } from '../../src/run/resume.ts';
import { openCommit } from '../../src/run/task-ref.ts';
import type { RunConfig } from '../../src/core/config.ts';
import { gitRepo, type TestRepo } from '../helpers/git-repo.ts';
import { tempFolder, writeTree } from '../helpers/temp.ts';
import { calls, ofType, tell, told, type Told } from './harness.ts';

const SKILL = '---\nname: release\ndescription: How releases are made.\n---\nTag it.\n';

function results({ events }: Told): string[] {
  return ofType(events, 'tool_end').map(({ status, content }) => {
    const [block] = content;
    return `${status}: ${block?.type === 'text' ? block.text : ''}`;
  });
}

describe('a run with skills', () => {
  const turns = [
    calls(['skill', { name: 'release' }], ['skill', { name: 'release', file: 'steps.md' }], ['skill', {}]),
    calls(['skill', { name: 'release' }]),
    { text: 'done' },
  ];
  const task = { skills: ['skills/*'] };

  test('offers them in the tool, and gives what is asked for', async () => {
    const folder = writeTree(tempFolder(), {
      'skills/release/SKILL.md': SKILL,
      'skills/release/steps.md': 'one, two\n',
    });
    const ran = await tell({ task, turns, folder });
    expect(ran.outcome.reason).toBe('completed');
    const [start] = ofType(ran.events, 'run_start');
    expect(start?.tools.map(({ name }) => name)).toEqual(['skill']);
    expect(start?.tools[0]?.description).toContain('- release: How releases are made.');
    const body = 'ok: Tag it.\n\n[other files of this skill: steps.md]';
    expect(results(ran)).toEqual([body, 'ok: one, two\n', expect.stringMatching(/^invalid/), body]);
    expect(ofType(ran.events, 'tool_start').map(({ effect }) => effect)).toEqual(['read', 'read', 'read']);
  });

  test('goes on and is replayed without their files', async () => {
    const folder = writeTree(tempFolder(), {
      'skills/release/SKILL.md': SKILL,
      'skills/release/steps.md': 'one, two\n',
    });
    const ran = await tell({ task: { ...task, limits: { max_turns: 1, on_limit: 'stop' } }, turns, folder });
    rmSync(join(folder, 'skills'), { recursive: true });
    const env = { PATH: process.env['PATH'] ?? '' };
    const { run_dir } = ran;
    const limits = { max_turns: 3 };
    const on = told(await resume({ run_dir, limits, allow_changed: true, env, subscribers: () => [] }), ran.workspace);
    expect([on.outcome.reason, results(on).at(-1)]).toEqual(['completed', expect.stringContaining('Tag it.')]);
    expect(await replay({ run_dir })).toMatchObject({ matches: true, divergence: null });
  });

  test('has no tool for them without any', async () => {
    const ran = await tell({ turns: [calls(['skill', { name: 'release' }]), { text: 'done' }] });
    expect(results(ran)).toEqual([expect.stringMatching(/^unknown: /)]);
  });
});

describe('skills with --task-ref', () => {
  const TASK = JSON.stringify({ prompt: 'x', model: 'm', skills: ['skills/*'] });

  function fromCommit(repo: TestRepo): Promise<RunConfig> {
    const env = { ...process.env };
    return loadRun({
      file: 'ci/task.json',
      options: mergeOptions({ 'task-ref': 'main', untrusted: true }, {}),
      env,
      cwd: repo.root,
      readStdin: () => Promise.reject(new Error('stdin was read')),
      openCommit: (ref, cwd) => openCommit(ref, { cwd, env }),
    });
  }

  test('come from the commit, whatever the checkout holds', async () => {
    const repo = gitRepo({
      'ci/task.json': TASK,
      'ci/skills/release/SKILL.md': SKILL,
      'ci/skills/release/deep/er.md': 'deeper',
    });
    repo.git('checkout', '-q', '-b', 'head');
    repo.commit({ 'ci/skills/release/SKILL.md': SKILL.replace('Tag it.', 'Leak it.') });
    repo.commit({ 'ci/skills/evil/SKILL.md': SKILL.replace('release', 'evil') });
    rmSync(join(repo.root, 'ci/skills/release'), { recursive: true });
    const { task, untrusted } = await fromCommit(repo);
    expect(untrusted).toBe(true);
    expect(task.skills).toEqual([
      {
        name: 'release',
        description: 'How releases are made.',
        body: 'Tag it.',
        files: [{ path: 'deep/er.md', text: 'deeper' }],
        binary: [],
      },
    ]);
  });

  test('are refused when the commit has a link among them', async () => {
    const repo = gitRepo({ 'ci/task.json': TASK, 'ci/skills/release/SKILL.md': SKILL });
    const blob = repo.git('hash-object', '-w', '--stdin', 'ci/task.json').trim().split('\n')[0] ?? '';
    repo.git('update-index', '--add', '--cacheinfo', `120000,${blob},ci/skills/release/link.md`);
    repo.git('commit', '-q', '-m', 'a link');
    await expect(fromCommit(repo)).rejects.toThrow('link.md is a symbolic link');
  });
});
