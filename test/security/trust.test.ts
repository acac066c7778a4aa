import { describe, expect, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { missing } from '../sandbox/inside.ts';
import { ahead } from './driver/ahead.ts';
import { casesOf, named, ownCasesOf } from './driver/cases.ts';
import { runTrustCase } from './driver/trust.ts';

// Each case is a whole run with processes of its own, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const cli = useCli();

describe.skipIf(missing)('starts of the runner (needs bubblewrap)', () => {
  const cases = [...casesOf('trust'), ...ownCasesOf('trust')];
  const run = ahead(cases, (one) => runTrustCase(one, cli.path()));

  test.each(named(cases))('%s', async (_name, one) => {
    expect(await run(one)).toEqual([]);
  });
});
