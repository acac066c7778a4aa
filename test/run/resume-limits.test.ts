import { describe, expect, test } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { resume } from '../../src/run/resume.ts';
import { calls, tell, told } from './harness.ts';
import type { Limits, ScriptTurn } from '../../src/core/config.ts';
import type { Told } from './harness.ts';

const read: ScriptTurn = calls(['read_file', { path: 'README.md' }]);
const tools = { read_file: {} };

async function again({ run_dir, workspace }: Told, limits: Partial<Limits>, prompt?: string): Promise<Told> {
  const env = { PATH: process.env['PATH'] ?? '' };
  const more = prompt === undefined ? {} : { prompt };
  return told(await resume({ run_dir, limits, allow_changed: false, env, subscribers: () => [], ...more }), workspace);
}

describe('a run that a limit ended although it was asked to conclude', () => {
  test('works on when it is resumed with a higher total', async () => {
    const first = await tell({
      task: { tools, limits: { max_turns: 2 } },
      turns: [read, read, read, { text: 'done' }],
    });
    expect(first.outcome).toMatchObject({ reason: 'max_turns' });
    const resumed = await again(first, { max_turns: 6 });
    expect(resumed.outcome).toEqual({ reason: 'completed' });
    expect(resumed.result).toMatchObject({ turns: 4, limit_reached: null, output: 'done' });
    expect(await replay(resumed)).toMatchObject({ matches: true });
  });

  test('ends the same again when the total is not higher', async () => {
    const first = await tell({ task: { tools, limits: { max_turns: 2 } }, turns: [read, read, { text: 'done' }] });
    const resumed = await again(first, {});
    expect(resumed.outcome).toMatchObject({ reason: 'max_turns' });
    expect(resumed.events.filter(({ type }) => type === 'model_reply')).toHaveLength(2);
  });

  test('keeps its conclusion when a follow-up is asked with a higher total', async () => {
    const first = await tell({
      task: { tools, limits: { max_turns: 2 } },
      turns: [read, { text: 'so far' }, read, { text: 'all' }],
    });
    expect(first.outcome).toMatchObject({ reason: 'completed', limit_reached: { reason: 'max_turns' } });
    const resumed = await again(first, { max_turns: 6 }, 'Go on.');
    expect(resumed.outcome).toEqual({ reason: 'completed' });
    expect(resumed.result).toMatchObject({ answers: ['so far'], output: 'all' });
  });

  test('stays a conclusion when it is only resumed', async () => {
    const first = await tell({ task: { tools, limits: { max_turns: 2 } }, turns: [read, { text: 'so far' }] });
    const resumed = await again(first, { max_turns: 6 });
    expect(resumed.outcome).toEqual(first.outcome);
  });
});
