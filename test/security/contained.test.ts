import { describe, expect, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { missing } from '../sandbox/inside.ts';
import { casesOf, type SecurityCase } from './driver/cases.ts';
import { playCli } from './driver/play-cli.ts';
import { runToolCase } from './driver/tool-case.ts';

// Each case is a whole run with processes of its own, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const cli = useCli();
const run = (one: SecurityCase) =>
  runToolCase(one, (fixture, start) => playCli(fixture, { ...start, cli: cli.path() }));

describe.skipIf(missing)('code of a stranger that an allowed command runs (needs bubblewrap)', () => {
  test.each(casesOf('secrets', 'network', 'git-config', 'symlink', 'sandbox'))('%s', async (_name, one) => {
    expect((await run(one)).problems).toEqual([]);
  });

  test.each(casesOf('process'))('%s', async (_name, one) => {
    expect((await run(one)).problems).toEqual([]);
  });
});
