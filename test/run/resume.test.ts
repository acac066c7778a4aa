import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { reduce } from '../../src/agent/reduce.ts';
import { EMPTY_STATE } from '../../src/agent/state.ts';
import { resume } from '../../src/run/resume.ts';
import { run } from '../../src/run/run.ts';
import { calls, configOf, ofType, tell, told } from './harness.ts';
import type { Limits, ScriptTurn } from '../../src/core/config.ts';
import type { Told } from './harness.ts';

const SCHEMA = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
const TURNS: ScriptTurn[] = [
  calls(['read_file', { path: 'README.md' }], ['glob', { pattern: '*.md' }]),
  calls(['write_file', { path: 'a.txt', file_text: 'one\n' }], ['read_file', { path: 'README.md' }]),
  calls(['submit_result', { wrong: true }]),
  calls(['submit_result', { sum: 3 }]),
];
const TASK = {
  tools: { read_file: {}, glob: {}, write_file: {} },
  output: { schema: SCHEMA },
  verify: [{ run: ['grep', '-q', 'one', 'a.txt'] }],
};

interface Again {
  limits?: Partial<Limits>;
  prompt?: string;
}

async function again(folder: string, { workspace, ...request }: Again & { workspace: string }): Promise<Told> {
  const options = {
    limits: {},
    allow_changed: false,
    env: { PATH: process.env['PATH'] ?? '' },
    subscribers: () => [],
    ...request,
  };
  return told(await resume({ run_dir: folder, ...options }), workspace);
}

function lines(folder: string): string[] {
  return readFileSync(join(folder, 'transcript.jsonl'), 'utf8').trimEnd().split('\n');
}

describe('a run stopped after any event', () => {
  test('goes on from its transcript alone to the same output, with no effect twice', { timeout: 120_000 }, async () => {
    const whole = await tell({ task: TASK, turns: TURNS });
    expect(whole.outcome.reason).toBe('completed');
    const all = lines(whole.run_dir);
    for (let kept = 1; kept < all.length; kept += 1) {
      writeFileSync(join(whole.run_dir, 'transcript.jsonl'), `${all.slice(0, kept).join('\n')}\n`);
      const resumed = await again(whole.run_dir, { workspace: whole.workspace });
      expect(resumed.outcome, `after ${kept} events`).toEqual({ reason: 'completed' });
      expect(resumed.output_text).toBe(whole.output_text);
      const writes = ofType(resumed.events, 'tool_start').filter((event) => event.effect === 'write');
      expect(writes, `after ${kept} events`).toHaveLength(1);
    }
  });

  test('reducing the transcript again gives the state it ended with', async () => {
    const whole = await tell({ task: TASK, turns: TURNS });
    const state = whole.events.reduce(reduce, EMPTY_STATE);
    expect(state.ended?.outcome).toEqual(whole.outcome);
    expect(state.ledger.turns).toBe(4);
    expect(state.messages).toHaveLength(8);
  });
});

describe('resume', () => {
  test('leaves out a line that a crash tore', async () => {
    const first = await tell({ task: TASK, turns: TURNS });
    const file = join(first.run_dir, 'transcript.jsonl');
    writeFileSync(file, `${lines(first.run_dir).slice(0, 8).join('\n')}\n`);
    appendFileSync(file, '{"seq":9,"type":"tool_e');
    const resumed = await again(first.run_dir, { workspace: first.workspace });
    expect(resumed.outcome.reason).toBe('completed');
    expect(resumed.events.map((event) => event.seq)).toEqual(resumed.events.map((_, index) => index + 1));
  });

  test('takes a limit as a new total and keeps what was spent', async () => {
    const first = await tell({ task: { ...TASK, limits: { max_turns: 2, on_limit: 'stop' } }, turns: TURNS });
    expect(first.outcome).toMatchObject({ reason: 'max_turns', used: 2 });
    const resumed = await again(first.run_dir, { workspace: first.workspace, limits: { max_turns: 4 } });
    expect(resumed.outcome.reason).toBe('completed');
    expect(resumed.result).toMatchObject({ turns: 4, resumed: true, limits: { max_turns: 4 } });
    expect(ofType(resumed.events, 'run_end')).toHaveLength(2);
  });

  test('asks a follow-up in the same conversation', async () => {
    const first = await tell({ turns: [{ text: 'blue' }, { text: 'because of the sky' }] });
    const resumed = await again(first.run_dir, { workspace: first.workspace, prompt: 'Why?' });
    expect(resumed.output_text).toBe('because of the sky');
    expect(resumed.result['answers']).toEqual(['blue']);
  });

  test('a run in which nothing was begun says so', async () => {
    const { config, folder, workspace } = await configOf({ task: { limits: { max_cost_usd: 1 } } });
    const first = await run({ config, env: {}, cwd: folder, subscribers: () => [] });
    expect(first.exit_code).toBe(2);
    await expect(again(first.run_dir, { workspace })).rejects.toThrow('nothing was begun');
  });

  test('tells that the task file has changed, and does not use it', async () => {
    const { config, folder, workspace } = await configOf({
      task: { limits: { max_turns: 1, on_limit: 'stop' }, tools: { read_file: {} } },
      turns: [calls(['read_file', { path: 'README.md' }]), { text: 'done' }],
    });
    const first = await run({ config, env: {}, cwd: folder, subscribers: () => [] });
    appendFileSync(join(folder, 'task.json'), '\n');
    const resumed = told(
      await resume({
        run_dir: first.run_dir,
        limits: { max_turns: 9 },
        allow_changed: false,
        env: {},
        cwd: folder,
        subscribers: () => [],
      }),
      workspace,
    );
    expect(resumed.output_text).toBe('done');
    expect(resumed.result['warnings']).toEqual([expect.stringContaining('has changed since the run began')]);
  });
});
