import { describe, expect, test } from 'vitest';
import { COMMANDS, isCommand } from '../../src/cli/commands.ts';
import { EXIT_REASONS, type ExitReason, type RunOutcome } from '../../src/core/outcome.ts';
import { EXIT_TEXTS } from '../../src/run/exit-texts.ts';
import { nextCommand } from '../../src/run/next-command.ts';

/** Names of commands in a text: the word behind `agent-run`, when it is one. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/agent-run ([a-z]+)/g)].map((match) => match[1] ?? '').filter(isCommand);
const unavailable = (text: string): string[] =>
  commandsIn(text).filter((name) => isCommand(name) && !COMMANDS[name].available);

// What a suggestion reads of an outcome beside its reason.
const outcomeOf = (reason: ExitReason, tool: string): RunOutcome =>
  ({ reason, tool, detail: 'd', limit: 1, used: 1, command: 'npm test' }) as unknown as RunOutcome;

describe('a command that is suggested', () => {
  test.each(EXIT_REASONS)('after %s is one that this version has', (reason) => {
    for (const facts of [{ task_file: 't.json' }, { task_file: 't.json', run_dir: 'out/run' }]) {
      const texts = ['bash', 'edit_file'].map((tool) => nextCommand(outcomeOf(reason, tool), facts) ?? '');
      expect(texts.flatMap(unavailable)).toEqual([]);
    }
    expect(unavailable(EXIT_TEXTS[reason].advice)).toEqual([]);
  });

  test('reads the summary with a path that a shell takes as one word', () => {
    const facts = { task_file: 't.json', run_dir: "it's here" };
    expect(nextCommand(outcomeOf('gate_failed', 'bash'), facts)).toBe("cat 'it'\\''s here/summary.md'");
  });
});
