import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { follow } from '../../src/run/interrupts.ts';
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
