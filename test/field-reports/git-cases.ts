import { play } from './harness.ts';
import { blocksOf, messagesOf } from './requests.ts';
import type { FieldRun } from './harness.ts';
import type { Case } from './place.ts';

/** What the first message says. */
export function firstMessage({ turns }: FieldRun): string {
  return blocksOf(messagesOf(turns[0])[0])
    .map((block) => block['text'])
    .join('\n');
}

/** A run whose context is the diff of a range. */
export function diffRun(range: { base?: string; head?: string; max_size?: string }, more: Case): Promise<FieldRun> {
  return play({ task: { context: [{ git: 'diff', ...range }] }, replies: ['done'], ...more });
}
