import { describe, expect, test, vi } from 'vitest';
import { copyWorkspace, endOfResult, runBash } from './driver/bash.ts';
import { casesOf, type SecurityCase } from './driver/cases.ts';
import { playHere } from './driver/play.ts';
import { runToolCase } from './driver/tool-case.ts';
import { factsOf } from './driver/verdict.ts';

// Each case is a whole run with processes of its own, on machines that may be busy.
vi.setConfig({ testTimeout: 30_000 });

// Long listings show times, and in a sandbox the mount points.
const LISTING = /^ls -l/;

/** Runs the case, and the original text under bash in a copy of the same workspace. */
async function beside(one: SecurityCase) {
  let copy = '';
  const ran = await runToolCase(one, (fixture, start) => {
    copy = copyWorkspace(fixture);
    return playHere(fixture, start);
  });
  const command = String(one.input['command']);
  const bash = runBash(ran.fixture, copy, command);
  const ours = endOfResult(factsOf(ran.played).text);
  return { ...ran, ours: LISTING.test(command) ? { ...ours, lines: bash.lines } : ours, bash };
}

describe('honest shell text', () => {
  test.each(casesOf('allow-shell'))('%s', async (_name, one) => {
    const { problems, ours, bash } = await beside(one);
    expect(problems).toEqual([]);
    expect(ours.status).toBe(bash.status);
    expect(ours.lines).toEqual(bash.lines);
  });
});
