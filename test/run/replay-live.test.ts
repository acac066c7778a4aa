import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { liveTools } from '../../src/run/replay-live.ts';
import { replay } from '../../src/run/replay.ts';
import { gitRepo } from '../helpers/git-repo.ts';
import { processesWith, uniqueSeconds } from '../helpers/processes.ts';
import { calls, tell } from './harness.ts';
import type { ReplayResult } from '../../src/run/replay.ts';
import type { Story, Told } from './harness.ts';

const env = { PATH: process.env['PATH'] ?? '' };
const TASK = {
  tools: {
    read_file: {},
    write_file: { paths: ['docs/**'] },
    bash: { allow: ['cat *', 'sleep *'], max_output: '1KiB' },
  },
  verify: [{ run: ['test', '-f', 'docs/a.md'] }],
};
const STORY: Story = {
  task: TASK,
  files: { 'long.txt': 'line\n'.repeat(2000) },
  turns: [
    calls(['read_file', { path: 'README.md' }], ['bash', { command: 'cat long.txt' }], ['bash', { command: 'rm x' }]),
    calls(['write_file', { path: 'docs/a.md', file_text: 'x' }], ['read_file', { path: 'README.md' }]),
    { text: 'done' },
  ],
};

interface Live {
  signal?: AbortSignal;
  env?: Record<string, string>;
}

async function live(told: Told, { signal, ...more }: Live = {}): Promise<ReplayResult> {
  const tools = liveTools({ env: { ...env, ...more.env }, cwd: told.workspace, run_dir: told.run_dir });
  onTestFinished(() => tools.dispose());
  return replay({ run_dir: told.run_dir, live: tools, ...(signal ? { signal } : {}) });
}

describe('a replay with live tools', () => {
  test('judges and runs every call again and finds the same', async () => {
    const told = await tell(STORY);
    expect(told.outcome.reason).toBe('completed');
    rmSync(join(told.workspace, 'docs'), { recursive: true });
    const before = readFileSync(join(told.run_dir, 'transcript.jsonl'));
    const result = await live(told);
    expect(result.divergence).toBeNull();
    expect(result.matches).toBe(true);
    expect(existsSync(join(told.workspace, 'docs/a.md'))).toBe(true);
    expect(readFileSync(join(told.run_dir, 'transcript.jsonl'))).toEqual(before);
  });

  test('names the first call whose result is another now', async () => {
    const told = await tell(STORY);
    writeFileSync(join(told.workspace, 'README.md'), 'changed\n');
    expect((await live(told)).divergence).toMatchObject({
      turn: 1,
      tool: 'read_file',
      path: 'content[0].text',
      expected: expect.stringContaining('hello') as unknown,
      got: expect.stringContaining('changed') as unknown,
    });
  });

  test('names a verify command that ends otherwise now', async () => {
    const told = await tell({ ...STORY, task: { ...TASK, verify: [{ run: ['test', '!', '-f', 'docs/b.md'] }] } });
    writeFileSync(join(told.workspace, 'docs/b.md'), '');
    rmSync(join(told.workspace, 'docs/a.md'));
    expect((await live(told)).divergence).toMatchObject({ path: 'ok', expected: true, got: false });
  });

  test('cuts a call where the recorded one was cut', async () => {
    const seconds = uniqueSeconds();
    const turns = [calls(['bash', { command: `sleep ${seconds}` }], ['read_file', { path: 'README.md' }])];
    const told = await tell({ task: { ...TASK, limits: { timeout: '500ms', on_limit: 'stop' } }, turns });
    expect(told.outcome.reason).toBe('timeout');
    expect((await live(told)).divergence).toBeNull();
    expect(processesWith(seconds)).toEqual([]);
  });

  test('runs nothing of a folder that came with an untrusted checkout', async () => {
    const told = await tell(STORY);
    gitRepo({}, told.run_dir).commit({});
    const untrusted = { env: { AGENT_RUN_UNTRUSTED: '1' } };
    await expect(live(told, untrusted)).rejects.toThrow('is part of the checkout');
    expect(await replay(told)).toMatchObject({ matches: true });
  });

  test('that is stopped ends its processes and says how far it came', async () => {
    const told = await tell({ ...STORY, turns: [calls(['bash', { command: 'sleep 0.2' }]), ...(STORY.turns ?? [])] });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    const result = await live(told, { signal: stop.signal });
    expect(result).toMatchObject({ matches: false, divergence: null });
    expect(result.events).toBeLessThan(told.events.length);
  });
});
