import { describe, expect, test } from 'vitest';
import { processesWith, uniqueSeconds } from '../helpers/processes.ts';
import { calls, ofType, tell } from './harness.ts';
import type { ScriptTurn } from '../../src/core/config.ts';

const reads: ScriptTurn = calls(['read_file', { path: 'README.md' }], ['read_file', { path: 'README.md' }]);

describe('calls of a reply that is dropped', () => {
  test.each(['refusal', 'model_context_window_exceeded'])(
    'leave nothing behind the last line (%s)',
    async (stop_reason) => {
      const told = await tell({ task: { tools: { read_file: {} } }, turns: [{ ...reads, stop_reason }] });
      await new Promise((resolve) => setImmediate(resolve)); // what came late came now
      expect(told.events.at(-1)?.type).toBe('run_end');
      expect(ofType(told.events, 'tool_end')).toEqual([]);
    },
  );

  test('have ended with the run when they had begun already', async () => {
    const seconds = uniqueSeconds();
    const turns = [{ ...calls(['bash', { command: `sleep ${seconds}` }]), stop_reason: 'refusal', delay_ms: 20 }];
    const told = await tell({ task: { tools: { bash: { allow: ['sleep *'] } } }, turns });
    expect(told.outcome.reason).toBe('refused');
    expect(processesWith(seconds)).toEqual([]);
  });
});
