import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { follow } from '../../src/run/interrupts.ts';
import { plan } from '../../src/run/plan.ts';
import { replay } from '../../src/run/replay.ts';
import { resume } from '../../src/run/resume.ts';
import { run } from '../../src/run/run.ts';
import { configOf, ofType, told } from './harness.ts';
import type { Limits } from '../../src/core/config.ts';
import type { Story, Told } from './harness.ts';

// Real commands that are cut, on machines that may be busy.
vi.setConfig({ testTimeout: 30_000 });

const env = { PATH: process.env['PATH'] ?? '' };

/** Runs the story and sends it a signal once its command has made the file `begun` in the workspace. */
async function cut(story: Story): Promise<Told> {
  const { config, folder, workspace } = await configOf(story);
  const cancel = new AbortController();
  const interrupts = follow(cancel.signal);
  const running = run({ config, env, cwd: folder, interrupts, subscribers: () => [] });
  await vi.waitFor(() => expect(existsSync(join(workspace, 'begun'))).toBe(true), { timeout: 20_000, interval: 10 });
  cancel.abort();
  return told(await running, workspace);
}

async function again({ run_dir, workspace }: Told, limits: Partial<Limits> = {}): Promise<Told> {
  const request = { run_dir, limits, allow_changed: false, env, subscribers: () => [] };
  return told(await resume(request), workspace);
}

const TURNS = [{ text: 'done' }, { text: 'done again' }];
/** The first time it does not end by itself, later it agrees at once. */
const waits = (before = ''): string[] => ['sh', '-c', `${before} test -e begun || { : > begun; sleep 30 & wait; }`];

describe('a verify command that is cut', () => {
  test.each([
    ['by a signal', waits()],
    ['by a signal it answers with a failure', waits("trap 'exit 1' TERM;")],
  ])('%s is no verdict: it runs again when the run goes on', async (_how, command) => {
    const first = await cut({ task: { verify: [{ run: command, attempts: 1 }] }, turns: TURNS });
    expect(first.outcome).toEqual({ reason: 'cancelled', signal: 'SIGTERM' });
    expect(first.result['verify']).toEqual([]);
    expect(await replay(first)).toMatchObject({ matches: true });
    const resumed = await again(first);
    expect(resumed.outcome).toEqual({ reason: 'completed' });
    expect(resumed.output_text).toBe('done');
    expect(ofType(resumed.events, 'verify_end')).toMatchObject([{ ok: true }]);
    expect(await replay(resumed)).toMatchObject({ matches: true });
  });

  test('by the deadline of the run is no verdict either, and the model is told of none', async () => {
    const verify = [{ run: waits(), attempts: 2 }];
    const { config, folder, workspace } = await configOf({ task: { verify, limits: { timeout: '1s' } }, turns: TURNS });
    const first = told(await run({ config, env, cwd: folder, subscribers: () => [] }), workspace);
    expect(first.outcome).toMatchObject({ reason: 'timeout', limit: 1000 });
    expect(await replay(first)).toMatchObject({ matches: true });
    const resumed = await again(first, { timeout_ms: 60_000 });
    expect(resumed.outcome).toEqual({ reason: 'completed' });
    expect(ofType(resumed.events, 'user_message').map(({ reason }) => reason)).toEqual(['prompt']);
    expect(await replay(resumed)).toMatchObject({ matches: true });
  });
});

describe('context that is cut', () => {
  const context = (when_empty: string, before = ''): object[] => [{ command: waits(before), when_empty }];

  test.each([
    ['with a part of it read', context('fail', 'echo PART1;')],
    ['with nothing read yet', context('skip')],
    ['with nothing read yet where that is a mistake', context('fail')],
    ['in front of files that were not read', [...context('run'), { files: ['none/**'], when_empty: 'skip' }]],
  ])('%s begins nothing, so that no later run takes it for the whole', async (_how, items) => {
    const first = await cut({ task: { context: items }, turns: TURNS });
    expect(first.outcome).toEqual({ reason: 'cancelled', signal: 'SIGTERM' });
    expect(first.events.map(({ type }) => type)).toEqual(['run_end']);
    expect(first.result).toMatchObject({ status: 'cancelled', exit_code: 143, context: [] });
    expect(first.artifact('summary.md')).not.toContain('agent-run resume');
    await expect(again(first)).rejects.toThrow('nothing was begun');
  });

  test('by the deadline of the run ends with its code, and the next command runs the task again', async () => {
    const task = { context: context('run', 'echo PART1;'), limits: { timeout: '500ms' } };
    const { config, folder, workspace } = await configOf({ task, turns: TURNS });
    const first = told(await run({ config, env, cwd: folder, subscribers: () => [] }), workspace);
    expect(first.outcome).toMatchObject({ reason: 'timeout', limit: 500 });
    expect(first.artifact('summary.md')).toContain('agent-run task.json --timeout 1m');
    await expect(again(first, { timeout_ms: 60_000 })).rejects.toThrow('nothing was begun');
  });

  test('makes a check of the task fail, too', async () => {
    const { config, folder, workspace } = await configOf({ task: { context: context('run') } });
    const before = new Set(process.listeners('SIGTERM'));
    const checking = plan({ config, env, cwd: folder });
    await vi.waitFor(() => expect(existsSync(join(workspace, 'begun'))).toBe(true), { timeout: 20_000, interval: 10 });
    // Only to the check: whoever runs the tests listens as well.
    for (const hear of process.listeners('SIGTERM')) if (!before.has(hear)) hear('SIGTERM');
    await expect(checking).rejects.toThrow('cut by a signal before the context was read');
  });
});
