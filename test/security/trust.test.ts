import { describe, expect, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { missing } from '../sandbox/inside.ts';
import { casesOf } from './driver/cases.ts';
import { runTrustCase } from './driver/trust.ts';

// Each case is a whole run in a process of its own, on machines that may be busy.
vi.setConfig({ testTimeout: 30_000 });

const cli = useCli();

describe.skipIf(missing)('starts of the runner (needs bubblewrap)', () => {
  test.each(casesOf('trust'))('%s', async (_name, one) => {
    expect(await runTrustCase(one, cli.path())).toEqual([]);
  });
});
