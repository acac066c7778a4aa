import { describe, expect, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { CASES, casesOf, type SecurityCase } from './driver/cases.ts';
import { playHere } from './driver/play.ts';
import { playCli } from './driver/play-cli.ts';
import { runToolCase, type Play } from './driver/tool-case.ts';

// Each case is a whole run with processes of its own, on machines that may be busy.
vi.setConfig({ testTimeout: 30_000 });

const cli = useCli();

/** Memory and the environment of the runner are only real in a process of its own. */
function playerFor({ check = [], input }: SecurityCase): Play {
  const alone = check.some(({ type }) => type === 'memoryBelow') || JSON.stringify(input).includes('/proc/');
  return alone ? (fixture, start) => playCli(fixture, { ...start, cli: cli.path() }) : playHere;
}

describe('file tools and the git tool', () => {
  test.each(casesOf('file', 'git-tool'))('%s', async (_name, one) => {
    expect((await runToolCase(one, playerFor(one))).problems).toEqual([]);
  });
});

describe('input of tool calls', () => {
  const raw = CASES.filter(({ tool }) => tool === 'tool-input');

  test.each(raw.map((one): [string, SecurityCase] => [`${one.id} ${one.expected}: ${one.description}`, one]))(
    '%s',
    async (_name, one) => {
      const writing = { ...one, policy: { bash: ['git status *', 'touch *'], write: ['**'], ...one.policy } };
      expect((await runToolCase(writing)).problems).toEqual([]);
    },
  );
});
