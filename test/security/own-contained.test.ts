import { describe, expect, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { missing } from '../sandbox/inside.ts';
import { ahead } from './driver/ahead.ts';
import { named, ownCasesOf, type SecurityCase } from './driver/cases.ts';
import { playCli } from './driver/play-cli.ts';
import { runToolCase, type Ran } from './driver/tool-case.ts';

// Each case is a whole run with processes of its own, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const cli = useCli();
const work = (one: SecurityCase): Promise<Ran> =>
  runToolCase(one, (fixture, start) => playCli(fixture, { ...start, cli: cli.path() }));

describe.skipIf(missing)('more that a sandbox contains (needs bubblewrap)', () => {
  const cases = ownCasesOf('secrets', 'network', 'sandbox');
  const run = ahead(cases, work);

  test.each(named(cases))('%s', async (_name, one) => {
    expect((await run(one)).problems).toEqual([]);
  });

  // One at a time: their time and memory are looked at.
  test.each(named(ownCasesOf('process')))('%s', async (_name, one) => {
    expect((await work(one)).problems).toEqual([]);
  });
});
