import { describe, expect, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { ahead } from './driver/ahead.ts';
import { CASES, casesOf, named, type SecurityCase } from './driver/cases.ts';
import { playHere } from './driver/play.ts';
import { playCli } from './driver/play-cli.ts';
import { runToolCase, type Play } from './driver/tool-case.ts';

// Each case is a whole run with processes of its own, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const cli = useCli();

/** Memory and the environment of the runner are only real in a process of its own. */
function playerFor({ check = [], input }: SecurityCase): Play {
  const alone = check.some(({ type }) => type === 'memoryBelow') || JSON.stringify(input).includes('/proc/');
  return alone ? (fixture, start) => playCli(fixture, { ...start, cli: cli.path() }) : playHere;
}

const cases = casesOf('file', 'git-tool');
const run = ahead(cases, (one) => runToolCase(one, playerFor(one)));

describe('file tools and the git tool', () => {
  test.each(named(cases))('%s', async (_name, one) => {
    expect((await run(one)).problems).toEqual([]);
  });
});

describe('input of tool calls', () => {
  test.each(named(CASES.filter(({ tool }) => tool === 'tool-input')))('%s', async (_name, one) => {
    const policy = { bash: ['git status *', 'touch *'], write: ['**'], ...one.policy };
    expect((await runToolCase({ ...one, policy })).problems).toEqual([]);
  });
});
