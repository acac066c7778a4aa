import { describe, expect, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { ahead } from './driver/ahead.ts';
import { named, ownCasesOf, type SecurityCase } from './driver/cases.ts';
import { playHere } from './driver/play.ts';
import { playCli } from './driver/play-cli.ts';
import { runToolCase, type Play } from './driver/tool-case.ts';

// Each case is a whole run with processes of its own, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const cli = useCli();

function playerFor({ check = [] }: SecurityCase): Play {
  const alone = check.some(({ type }) => type === 'memoryBelow');
  return alone ? (fixture, start) => playCli(fixture, { ...start, cli: cli.path() }) : playHere;
}

const cases = ownCasesOf('file', 'data', 'git-config');
const run = ahead(cases, (one) => runToolCase(one, playerFor(one)));

describe('more that file tools, git and odd input try', () => {
  test.each(named(cases))('%s', async (_name, one) => {
    expect((await run(one)).problems).toEqual([]);
  });
});
