import { describe, expect, test, vi } from 'vitest';
import { ahead } from './driver/ahead.ts';
import { copyWorkspace, endOfResult, runBash, type BashEnd } from './driver/bash.ts';
import { casesOf, named, type SecurityCase } from './driver/cases.ts';
import { playHere } from './driver/play.ts';
import { runToolCase } from './driver/tool-case.ts';
import { factsOf } from './driver/verdict.ts';

// Each case is a whole run with processes of its own, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

// Long listings show times, and in a sandbox the mount points.
const LISTING = /^ls -l/;

/** Runs the case, and the original text under bash in a copy of the same workspace. */
async function beside(one: SecurityCase): Promise<{ problems: string[]; ours: BashEnd; bash: BashEnd }> {
  const command = String(one.input['command']);
  let bash: BashEnd = { status: null, lines: [] };
  const ran = await runToolCase(one, async (fixture, start) => {
    bash = runBash(fixture, copyWorkspace(fixture), command);
    return playHere(fixture, start);
  });
  const ours = endOfResult(factsOf(ran.played).text);
  return { problems: ran.problems, ours: LISTING.test(command) ? { ...ours, lines: bash.lines } : ours, bash };
}

const cases = casesOf('allow-shell');
const run = ahead(cases, beside);

describe('honest shell text', () => {
  test.each(named(cases))('%s', async (_name, one) => {
    const { problems, ours, bash } = await run(one);
    expect(problems).toEqual([]);
    expect(ours).toEqual(bash);
  });
});
