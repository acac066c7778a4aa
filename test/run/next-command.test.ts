import { describe, expect, test } from 'vitest';
import { isCommand } from '../../src/cli/commands.ts';
import { EXIT_REASONS, type ExitReason, type RunOutcome } from '../../src/core/outcome.ts';
import { EXIT_TEXTS } from '../../src/run/exit-texts.ts';
import { nextCommand } from '../../src/run/next-command.ts';

/** Words behind `agent-run` in a text that are neither a command nor the task of these tests. */
const unknown = (text: string): string[] =>
  [...text.matchAll(/agent-run ([a-z]+)(?= |$)/g)].map((match) => match[1] ?? '').filter((word) => !isCommand(word));

// What a suggestion reads of an outcome beside its reason.
const outcomeOf = (reason: ExitReason, tool: string): RunOutcome =>
  ({ reason, tool, detail: 'd', limit: 1, used: 1, command: 'npm test' }) as unknown as RunOutcome;

describe('a command that is suggested', () => {
  test.each(EXIT_REASONS)('after %s is one that this version has', (reason) => {
    for (const facts of [{ task_file: 't.json' }, { task_file: 't.json', run_dir: 'out/run' }]) {
      const texts = ['bash', 'edit_file'].map((tool) => nextCommand(outcomeOf(reason, tool), facts) ?? '');
      expect(texts.flatMap(unknown)).toEqual([]);
    }
    expect(unknown(EXIT_TEXTS[reason].advice)).toEqual([]);
  });

  test('reads the summary with a path that a shell takes as one word', () => {
    const facts = { task_file: 't.json', run_dir: "it's here" };
    expect(nextCommand(outcomeOf('gate_failed', 'bash'), facts)).toBe("cat 'it'\\''s here/summary.md'");
  });
});
