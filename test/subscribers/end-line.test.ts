import { expect, test } from 'vitest';
import { afterReason, endLines } from '../../src/subscribers/end-line.ts';

test.each([
  ['completed', 'completed', ''],
  ['completed', 'completed; 1 call denied', '; 1 call denied'],
  ['completed', 'completed, concluding early', ', concluding early'],
  ['skipped', 'skipped: no diff', ': no diff'],
  ['timeout', 'timeouts everywhere', ': timeouts everywhere'],
  ['max_turns', 'turn limit reached', ': turn limit reached'],
] as const)('%s with "%s" does not say its reason twice', (reason, message, rest) => {
  expect(afterReason(reason, message)).toBe(rest);
});

test('a run that ended before it had a folder has its line too', () => {
  const outcome = { reason: 'config_error', detail: 'task.json:1:2: bad' } as const;
  const lines = endLines({ outcome, message: outcome.detail, next: () => 'agent-run validate task.json' });
  const text =
    'agent-run: config_error (exit 2): task.json:1:2: bad | spent nothing | next: agent-run validate task.json';
  expect(lines).toEqual([{ level: 'error', text }]);
});
