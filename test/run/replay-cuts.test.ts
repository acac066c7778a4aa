import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { resume } from '../../src/run/resume.ts';
import { calls, tell } from './harness.ts';
import type { EventBody, RunEvent } from '../../src/core/events.ts';
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

const transcript = (run_dir: string): string => join(run_dir, 'transcript.jsonl');

function linesOf(run_dir: string): string[] {
  return readFileSync(transcript(run_dir), 'utf8').trimEnd().split('\n');
}

function put(run_dir: string, lines: readonly string[]): void {
  writeFileSync(transcript(run_dir), `${lines.join('\n')}\n`);
}

interface Again {
  limits?: Partial<Limits>;
  prompt?: string;
}

async function again({ run_dir }: Told, more: Again = {}): Promise<void> {
  const env = { PATH: process.env['PATH'] ?? '' };
  await resume({ run_dir, limits: {}, allow_changed: false, env, subscribers: () => [], ...more });
}

/** The transcript with one line replaced by the answer of `change`, or removed. */
function tamper(told: Told, index: number, change: (event: RunEvent) => unknown): void {
  const lines = told.events.flatMap((event, at) => {
    const changed = at === index ? change(event) : event;
    return changed === undefined ? [] : [JSON.stringify(changed)];
  });
  put(told.run_dir, lines);
}

describe('a transcript that a crash cut', () => {
  test('is replayed to its last line, wherever that is', { timeout: 60_000 }, async () => {
    const told = await tell({ task: TASK, turns: TURNS });
    const all = linesOf(told.run_dir);
    for (let kept = 1; kept <= all.length; kept += 1) {
      put(told.run_dir, all.slice(0, kept));
      const result = await replay({ run_dir: told.run_dir });
      expect(result.divergence, `after ${kept} events`).toBeNull();
      expect(result).toMatchObject({ matches: true, events: kept });
    }
  });

  test('is replayed with the run that went on from there', { timeout: 120_000 }, async () => {
    const told = await tell({ task: TASK, turns: TURNS });
    const all = linesOf(told.run_dir);
    for (let kept = 1; kept < all.length; kept += 2) {
      put(told.run_dir, all.slice(0, kept));
      await again(told);
      const result = await replay({ run_dir: told.run_dir });
      expect(result.divergence, `after ${kept} events`).toBeNull();
      expect(result.events).toBeGreaterThan(kept);
    }
  });
});

describe('a run that went on', () => {
  test('is replayed with its follow-up, its new limits and a task that had changed', async () => {
    const limits = { max_turns: 1, on_limit: 'stop' };
    const read = calls(['read_file', { path: 'README.md' }]);
    const told = await tell({
      task: { ...TASK, output: {}, verify: [], limits },
      turns: [read, { text: 'a' }, { text: 'b' }],
    });
    await again(told, { limits: { max_turns: 2 } });
    await again(told, { limits: { max_turns: 3 }, prompt: 'More?' });
    const result = await replay({ run_dir: told.run_dir });
    expect(result.divergence).toBeNull();
    expect(linesOf(told.run_dir).filter((line) => line.includes('"type":"run_end"'))).toHaveLength(3);
  });
});

describe('a replay', () => {
  test('needs nothing but the transcript and leaves its folder alone', async () => {
    const told = await tell({ task: TASK, turns: TURNS });
    rmSync(told.workspace, { recursive: true });
    const before = readdirSync(told.run_dir).map((name) => [name, statSync(join(told.run_dir, name)).mtimeMs]);
    expect(await replay({ run_dir: told.run_dir })).toMatchObject({ matches: true });
    expect(readdirSync(told.run_dir).map((name) => [name, statSync(join(told.run_dir, name)).mtimeMs])).toEqual(before);
  });

  test('of a run that was never begun is a mistake of the caller', async () => {
    const told = await tell({ task: { limits: { max_cost_usd: 1 } } });
    await expect(replay({ run_dir: told.run_dir })).rejects.toThrow('nothing was begun');
  });
});

describe('the first difference', () => {
  const at = (told: Told, type: EventBody['type']): number => told.events.findIndex((event) => event.type === type);

  test('names event, turn, call, place and both values', async () => {
    const told = await tell({ task: TASK, turns: TURNS });
    const index = told.events.findIndex((event) => event.type === 'tool_end' && event.name === 'submit_result');
    const text = 'not what was said';
    tamper(told, index, (event) => ({ ...event, content: [{ type: 'text', text }] }));
    expect(await replay({ run_dir: told.run_dir })).toMatchObject({
      matches: false,
      events: index,
      divergence: {
        seq: index + 1,
        turn: 3,
        tool_use_id: 'toolu_script_003_1',
        tool: 'submit_result',
        path: 'content[0].text',
        expected: text,
        got: expect.stringContaining('not accepted') as unknown,
      },
    });
  });

  test('is found when a limit, a verdict or the system text would be another now', async () => {
    const told = await tell({ task: TASK, turns: TURNS });
    const { events } = told;
    const limit = (event: RunEvent) =>
      event.type === 'run_start' && {
        ...event,
        task: { ...event.task, limits: { ...event.task.limits, max_turns: 2 } },
      };
    tamper(told, 0, limit);
    expect((await replay(told)).divergence).toMatchObject({ turn: 2, expected: 'turn_start', got: 'user_message' });
    tamper(told, 0, (event) => ({ ...event, system: 'Be kind.' }));
    expect((await replay(told)).divergence).toMatchObject({ seq: 1, path: 'system', expected: 'Be kind.' });
    tamper(told, at(told, 'policy_verdict'), (event) => ({ ...event, verdict: 'deny', reason: 'no' }));
    expect((await replay(told)).divergence).toMatchObject({ turn: 1 });
    expect(events).toHaveLength(linesOf(told.run_dir).length);
  });

  test.each<EventBody['type']>(['user_message', 'turn_start', 'model_reply', 'tool_start', 'tool_end', 'turn_end'])(
    'is found when a %s is missing',
    async (type) => {
      const told = await tell({ task: TASK, turns: TURNS });
      tamper(told, at(told, type), () => undefined);
      expect(await replay(told)).toMatchObject({ matches: false, divergence: { seq: expect.any(Number) as unknown } });
    },
  );
});
