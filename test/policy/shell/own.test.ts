import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judgeShell } from '../../../src/policy/shell/judge.ts';
import honest from './honest.json' with { type: 'json' };
import hostile from './hostile.json' with { type: 'json' };
import { makePathJudge, makeRules, makeWorkspace } from './workspace.ts';

interface Group {
  readonly kind: string;
  readonly allow: readonly string[];
  readonly deny?: readonly string[];
  readonly write?: readonly string[];
  readonly commands: readonly string[];
}

let shared = { root: '', remove: (): void => undefined };

beforeAll(() => {
  shared = makeWorkspace([{ dir: 'reports' }, { dir: 'build' }, { file: 'src/a.json', text: '{}' }]);
}, 60_000);
afterAll(() => shared.remove());

/** The commands of a group whose verdict differs from the wanted one. */
async function wrongOnes(group: Group, wanted: boolean): Promise<readonly string[]> {
  const { root } = shared;
  const rules = makeRules(group.allow, group.deny);
  if (typeof rules === 'string') throw new Error(rules);
  const wrong: string[] = [];
  for (const command of group.commands) {
    const verdict = await judgeShell(command.replaceAll('{{WS}}', root), rules, makePathJudge(root, group.write));
    if (verdict.allowed !== wanted) wrong.push(verdict.allowed ? command : `${command}  <- ${verdict.reason}`);
  }
  return wrong;
}

describe('commands that do more than their rules say are refused', () => {
  for (const [index, group] of (hostile as readonly Group[]).entries()) {
    test(`${group.kind}, group ${index}: ${group.allow.join(', ').slice(0, 60)}`, async () => {
      expect(await wrongOnes(group, false)).toEqual([]);
    });
  }
});

describe('commands that do what their rules say are allowed', () => {
  for (const [index, group] of (honest as readonly Group[]).entries()) {
    test(`${group.kind}, group ${index}: ${group.allow.join(', ').slice(0, 60)}`, async () => {
      expect(await wrongOnes(group, true)).toEqual([]);
    });
  }
});
