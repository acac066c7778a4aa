import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createCgroup, MOST_TASKS } from '../../src/sandbox/cgroup.ts';
import { createSandbox } from '../../src/sandbox/bubblewrap.ts';
import { CONFIG, missing, workspace } from './inside.ts';

// Root in a container usually cannot make one, and nobody else can.
const probe = createCgroup('agent-run-test-probe');
probe?.dispose();
const closed = probe === undefined;

describe.skipIf(closed)('a control group (needs root and a writable hierarchy)', () => {
  test('limits tasks, and is gone afterwards', () => {
    const cgroup = createCgroup('agent-run-test-own');
    const folders = (cgroup?.entrances ?? []).map(dirname);
    const limits = folders.map((folder) => join(folder, 'pids.max')).filter(existsSync);
    expect(limits.map((file) => readFileSync(file, 'utf8').trim())).toEqual([String(MOST_TASKS)]);
    cgroup?.dispose();
    expect(folders.filter(existsSync)).toEqual([]);
  });

  test.skipIf(missing)('holds every process of a call, and is gone with the sandbox (needs bubblewrap)', async () => {
    const folder = workspace();
    const env = { PATH: '/usr/bin:/bin' };
    const sandbox = createSandbox({ config: CONFIG, workspace: folder, hidden: [], locked: [], env, home: '/root' });
    const wrapped = sandbox.wrap(['sh', '-c', 'echo here; sleep 30'], folder);
    const child = spawn(wrapped.argv[0] ?? '', wrapped.argv.slice(1), { env, stdio: ['ignore', 'pipe', 'ignore'] });
    await once(child.stdout, 'data');
    const entrance = wrapped.argv.find((word) => word.endsWith('cgroup.procs')) ?? '';
    // bwrap outside and inside, the shell and its sleep
    expect(readFileSync(entrance, 'utf8').trim().split('\n').length).toBeGreaterThanOrEqual(3);
    child.kill('SIGKILL');
    await once(child, 'close');
    wrapped.release?.();
    sandbox.dispose();
    expect(existsSync(entrance)).toBe(false);
  });
});
