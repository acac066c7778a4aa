import { describe, expect, test } from 'vitest';
import { createGitFacts } from '../../src/workspace/git-facts.ts';

function facts(): {
  now: { ms: number };
  ask: (head: string, workspace?: string) => Promise<string | null | undefined>;
  forget: () => void;
} {
  const now = { ms: 0 };
  const made = createGitFacts({ now: () => now.ms, sleep: async () => {} });
  const ask = async (head: string, workspace = '/w'): Promise<string | null | undefined> =>
    (await made.state(workspace, async () => ({ head, branch: null, dirty: false })))?.head;
  return { now, ask, forget: () => made.forget() };
}

describe('what git said', () => {
  test('is used again for a second, for the same workspace', async () => {
    const { now, ask } = facts();
    expect(await ask('a')).toBe('a');
    now.ms = 999;
    expect(await ask('b')).toBe('a');
    expect(await ask('b', '/other')).toBe('b');
    now.ms = 1000;
    expect(await ask('c')).toBe('c');
  });

  test('is forgotten after a run that may have changed it', async () => {
    const { ask, forget } = facts();
    await ask('a');
    forget();
    expect(await ask('b')).toBe('b');
  });

  test('is asked again when it failed', async () => {
    const made = createGitFacts({ now: () => 0, sleep: async () => {} });
    const fails = made.drivers('/w', () => Promise.reject(new Error('no git')));
    await expect(fails).rejects.toThrow('no git');
    expect(await made.drivers('/w', async () => [])).toEqual([]);
  });
});
