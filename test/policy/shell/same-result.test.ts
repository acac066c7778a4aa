import { describe, expect, test } from 'vitest';
import { judgeShell } from '../../../src/policy/shell/judge.ts';
import cases from './cases.json' with { type: 'json' };
import honest from './honest.json' with { type: 'json' };
import { readTree, runScript } from './run.ts';
import type { Setup } from './workspace.ts';
import { makePathJudge, makeRules, makeWorkspace } from './workspace.ts';

interface Group {
  readonly allow: readonly string[];
  readonly deny?: readonly string[];
  readonly write?: readonly string[];
  readonly commands: readonly string[];
  readonly setup?: readonly Setup[];
}

/** Runs every command as written under bash and as re-emitted under dash, in two folders that start alike. */
async function differences(group: Group): Promise<readonly unknown[]> {
  const setup = group.setup ?? [
    { dir: 'reports' },
    { file: 'reports/r.txt', text: 'aaa\n' },
    { file: 'src/a.json', text: '{"env":1}' },
  ];
  const [original, emitted] = [makeWorkspace(setup), makeWorkspace(setup)];
  const rules = makeRules(group.allow, group.deny);
  if (typeof rules === 'string') throw new Error(rules);
  const found: unknown[] = [];
  for (const command of group.commands) {
    const judged = await judgeShell(
      command.replaceAll('{{WS}}', emitted.root),
      rules,
      makePathJudge(emitted.root, group.write),
    );
    if (!judged.allowed) {
      found.push({ command, reason: judged.reason });
      continue;
    }
    const wanted = runScript('bash', command.replaceAll('{{WS}}', original.root), original.root);
    const got = runScript('dash', judged.script, emitted.root);
    if (wanted.status !== got.status || wanted.stdout !== got.stdout) found.push({ command, wanted, got });
  }
  if (JSON.stringify(readTree(original.root)) !== JSON.stringify(readTree(emitted.root)))
    found.push('the files differ');
  original.remove();
  emitted.remove();
  return found;
}

describe('what is re-emitted gives the same status, output and files as the text under bash', () => {
  const allowed = cases.filter((item) => item.kind === 'allow-shell');
  for (const item of allowed) {
    const { policy } = item as {
      readonly policy: { readonly bash?: readonly string[]; readonly write?: readonly string[] };
    };
    const command = 'command' in item.input ? item.input.command : undefined;
    test(`${item.id}: ${item.description}`, { timeout: 120_000 }, async () => {
      const setup: readonly Setup[] = 'setup' in item ? item.setup : [];
      const group = { allow: policy.bash ?? [], write: policy.write ?? [], commands: [command ?? ''], setup };
      expect(await differences(group)).toEqual([]);
    });
  }

  // Package managers and compilers are slow, absent or need a network: their words are covered by the verdicts.
  const groups = (honest as readonly Group[]).filter((group) => !group.allow.includes('npm test *'));
  for (const [index, group] of groups.entries()) {
    test(`honest group ${index}: ${group.allow.join(', ').slice(0, 60)}`, { timeout: 600_000 }, async () => {
      expect(await differences(group)).toEqual([]);
    });
  }
});
