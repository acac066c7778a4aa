import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judgeGitArgs } from '../../../src/policy/shell/git-args.ts';
import { judgeShell } from '../../../src/policy/shell/judge.ts';
import cases from './cases.json' with { type: 'json' };
import type { Setup } from './workspace.ts';
import { makePathJudge, makeRules, makeWorkspace } from './workspace.ts';

interface Case {
  readonly id: string;
  readonly kind: string;
  readonly description: string;
  readonly policy: {
    readonly bash?: readonly string[];
    readonly deny?: readonly string[];
    readonly write?: readonly string[];
  };
  readonly input: { readonly command?: string; readonly args?: readonly string[] };
  readonly expected: string;
  readonly setup?: readonly Setup[];
}

const READING_GIT = ['log', 'diff', 'show', 'blame', 'status'];

let shared = { root: '', remove: (): void => undefined };

beforeAll(() => {
  shared = makeWorkspace();
}, 60_000);
afterAll(() => shared.remove());

/** `allow`, or the reason why not; a policy that does not load allows nothing. */
async function decideCase(item: Case): Promise<string> {
  const setup = (item.setup ?? []).filter((step) => step.to === undefined);
  // Judging changes no file, so only a case with files of its own needs a folder of its own.
  const { root, remove } = setup.length === 0 ? { root: shared.root, remove: () => undefined } : makeWorkspace(setup);
  try {
    const paths = makePathJudge(root, item.policy.write);
    if (item.input.args !== undefined) {
      const verdict = await judgeGitArgs(item.input.args, READING_GIT, paths);
      return verdict.allowed ? 'allow' : verdict.reason;
    }
    const rules = makeRules(item.policy.bash ?? [], item.policy.deny);
    if (typeof rules === 'string') return rules;
    const text = (item.input.command ?? '')
      .replaceAll('{{WS}}', root)
      .replaceAll('{{OUTSIDE}}', `${root}-outside`)
      .replace(/(.)\{\{REPEAT:(\d+)\}\}/, (_, character: string, count: string) => character.repeat(Number(count)));
    const verdict = await judgeShell(text, rules, paths);
    return verdict.allowed ? 'allow' : verdict.reason;
  } finally {
    remove();
  }
}

describe('every case of the threat model is decided as it says', () => {
  for (const item of cases as readonly Case[]) {
    test(`${item.id}: ${item.description}`, { timeout: 60_000 }, async () => {
      const verdict = await decideCase(item);
      const expected = item.expected === 'contained' ? ['allow', 'deny'] : [item.expected];
      expect(expected, verdict).toContain(verdict === 'allow' ? 'allow' : 'deny');
    });
  }
});
