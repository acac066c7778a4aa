import { existsSync } from 'node:fs';
import { tempFolder } from '../helpers/temp.ts';
import { describe, expect, test } from 'vitest';
import { BWRAP } from '../../src/sandbox/bubblewrap.ts';
import { chooseBoundary } from '../../src/sandbox/choose.ts';
import type { SandboxConfig } from '../../src/core/config.ts';
import type { Boundary } from '../../src/core/ports.ts';
import type { ChooseOptions } from '../../src/sandbox/choose.ts';

const CONFIG: SandboxConfig = {
  mode: 'auto',
  network: false,
  env: [],
  read: [],
  write: ['.'],
  git_write: false,
  allow_untrusted: false,
};
const PLAIN: Boundary = {
  state: { mode: 'off', active: 'none', detail: '' },
  env: { PATH: '/usr/bin:/bin' },
  wrap: (argv, cwd) => ({ argv: [...argv], cwd, env: { PATH: '/usr/bin:/bin' } }),
};

function choose(config: Partial<SandboxConfig>, more: Partial<ChooseOptions> = {}) {
  return chooseBoundary(PLAIN, {
    config: { ...CONFIG, ...config },
    workspace: tempFolder(),
    hidden: [],
    locked: [],
    env: PLAIN.env,
    home: '/root',
    untrusted: false,
    starts_processes: true,
    ...more,
  });
}

// A workspace that is not there makes the probe of the real profile fail, whatever the machine has.
const BROKEN = { workspace: '/nonexistent/workspace' };

describe('mode off', () => {
  test('is taken as written for a trusted run, and says so', async () => {
    expect((await choose({ mode: 'off' })).state).toEqual({
      mode: 'off',
      active: 'none',
      detail: 'switched off in the task',
    });
  });

  test('needs a second key for an untrusted run', async () => {
    await expect(choose({ mode: 'off' }, { untrusted: true })).rejects.toThrow('"allow_untrusted": true');
    expect((await choose({ mode: 'off', allow_untrusted: true }, { untrusted: true })).state.active).toBe('none');
  });
});

describe('where no sandbox works', () => {
  test('auto goes on for a trusted run and says why there is none', async () => {
    const { state } = await choose({}, BROKEN);
    expect(state.active).toBe('none');
    expect(state.detail).not.toBe('');
  });

  test('auto ends an untrusted run that would start a process', async () => {
    await expect(choose({}, { ...BROKEN, untrusted: true })).rejects.toMatchObject({ reason: 'sandbox_unavailable' });
    expect((await choose({}, { ...BROKEN, untrusted: true, starts_processes: false })).state.active).toBe('none');
  });

  test('auto looks for none when the task starts no process, and says that none is needed', async () => {
    const { state } = await choose({}, { starts_processes: false });
    expect(state).toEqual({ mode: 'auto', active: 'none', detail: 'not needed: the task starts no process' });
  });

  test('required ends every run', async () => {
    await expect(choose({ mode: 'required' }, BROKEN)).rejects.toMatchObject({ reason: 'sandbox_unavailable' });
  });
});

test('a host that is no name is the caller’s mistake', async () => {
  await expect(choose({ network: ['https://example.com'] })).rejects.toMatchObject({ reason: 'config_error' });
});

describe.skipIf(!existsSync(BWRAP) && process.env['AGENT_RUN_REQUIRE_BWRAP'] !== '1')(
  'with bubblewrap (needs bubblewrap)',
  () => {
    test('auto and required use it', async () => {
      for (const mode of ['auto', 'required'] as const) {
        const sandbox = await choose({ mode });
        expect(sandbox.state.active).toBe('bubblewrap');
        sandbox.dispose();
      }
    });
  },
);
