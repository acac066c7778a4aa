import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { liveTools } from '../../src/run/replay-live.ts';
import { run } from '../../src/run/run.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { KEY, MODEL } from './fill.ts';
import { configOf, ofType, told } from './harness.ts';
import type { JsonRecord } from '../helpers/messages-server/json-text.ts';
import type { BlockSpec, ReplyLike } from '../helpers/messages-server/types.ts';
import type { Told } from './harness.ts';

const call = (name: string, input: JsonRecord): BlockSpec => ({ type: 'tool_use', name, input });
const readA = call('read_file', { path: 'a' });
const readB = call('read_file', { path: 'b' });
const write = call('write_file', { path: 'c', file_text: 'c' });
const TASK = { tools: { read_file: {}, write_file: {} } };

/** Breaks off long after its calls are complete. */
function broken(...content: BlockSpec[]): ReplyLike {
  const after = `block_stop:${content.length - 1}` as const;
  return reply.reset({ content, after, pause: { after, until: 150 } });
}

/** Plays attempts of one turn; before each but the first, file `a` gets another content. */
async function play(attempts: ReplyLike[], task: Record<string, unknown> = TASK): Promise<Told> {
  const server = await startMessagesServer({ replies: (_request, n) => next(n) });
  onTestFinished(() => server.close());
  const { config, folder, workspace } = await configOf({
    task,
    model: { provider: 'anthropic', id: MODEL, base_url: server.url },
    files: { a: 'one', b: 'b' },
  });
  const next = (n: number): ReplyLike => {
    if (n > 1) writeFileSync(join(workspace, 'a'), 'two');
    return attempts[n - 1] ?? 'done';
  };
  const env = { ANTHROPIC_API_KEY: KEY };
  const result = told(await run({ config, env, cwd: folder, subscribers: () => [] }), workspace);
  expect(server.failures).toEqual([]);
  expect(result.outcome.reason).toBe('completed');
  expect((await replay({ run_dir: result.run_dir })).divergence).toBeNull();
  return result;
}

function results(events: Told['events']): [string, string | undefined][] {
  return ofType(events, 'tool_end').map(({ content: [block], reused_from }) => [
    block?.type === 'text' ? block.text : '',
    reused_from,
  ]);
}

describe('a read that an attempt before answered', () => {
  test('is answered from there when the attempt after it asks the same', async () => {
    const { events, result } = await play([broken(readA), reply.message({ content: [readA, readB] })]);
    expect(results(events)).toEqual([
      [expect.stringContaining('one'), 'toolu_0001_0'],
      [expect.stringContaining('b'), undefined],
    ]);
    expect(ofType(events, 'tool_start').map(({ tool_use_id }) => tool_use_id)).toEqual([
      'toolu_0001_0',
      'toolu_0002_1',
    ]);
    expect(ofType(events, 'policy_verdict')).toHaveLength(3);
    expect(result['tool_calls']).toMatchObject({ total: 2 });
  });

  test('serves every further attempt, and is still the first one’s', async () => {
    const { events } = await play([broken(readA), broken(readA), reply.message({ content: [readA] })]);
    expect(results(events)).toEqual([[expect.stringContaining('one'), 'toolu_0001_0']]);
    expect(ofType(events, 'tool_start')).toHaveLength(1);
  });

  test('is done again behind an effect', async () => {
    const { events } = await play([broken(readA), reply.message({ content: [write, readA] })]);
    expect(results(events).at(-1)).toEqual([expect.stringContaining('two'), undefined]);
  });

  test('is done again for another input and in another turn', async () => {
    const other = call('read_file', { path: './a' });
    const { events } = await play([
      broken(readA),
      reply.message({ content: [other] }),
      reply.message({ content: [readA] }),
    ]);
    expect(results(events)).toEqual([
      [expect.stringContaining('two'), undefined],
      [expect.stringContaining('two'), undefined],
    ]);
  });

  test('is run and reused again when the run is replayed with live tools', async () => {
    const { run_dir, workspace } = await play([broken(readB), reply.message({ content: [readB] })]);
    const live = liveTools({ env: {}, cwd: workspace, run_dir });
    onTestFinished(() => live.dispose());
    expect(await replay({ run_dir, live })).toMatchObject({ matches: true });
  });

  test('counts once against the limit of its tool', async () => {
    const task = { tools: { read_file: { max_calls: 1 } } };
    const { events } = await play([broken(readA), reply.message({ content: [readA] })], task);
    expect(ofType(events, 'tool_end')).toMatchObject([{ status: 'ok', reused_from: 'toolu_0001_0' }]);
  });
});

test('a read that did not come to its end is done again', async () => {
  const endless = call('bash', { command: 'tail -f a' });
  const after = 'block_stop:0';
  const cut = reply.reset({ content: [endless], after, pause: { after, until: 700 } });
  const timedOut = reply.reset({ content: [endless], after, pause: { after, until: 3000 } });
  const task = { tools: { bash: { allow: ['tail *'], timeout: '1s' } } };
  const { events } = await play([cut, timedOut, reply.message({ content: [endless] })], task);
  expect(ofType(events, 'tool_start').map(({ effect }) => effect)).toEqual(['read', 'read', 'read']);
  expect(ofType(events, 'tool_end')).toMatchObject([{ status: 'timed_out' }]);
  expect(ofType(events, 'tool_end')[0]).not.toHaveProperty('reused_from');
});
