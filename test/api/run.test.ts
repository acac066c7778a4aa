import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run, type RunEvent, type TaskFile, UsageError } from '../../src/api/main.ts';
import { tempTree } from '../helpers/temp.ts';

const ENV = { PATH: process.env['PATH'] ?? '' };

function task(changes: Partial<TaskFile> = {}): TaskFile {
  const turns = [
    { tool_use: [{ name: 'read_file', input: { path: 'notes.txt' } }] },
    { text: '{"summary":"two lines"}', expect: 'second line' },
  ];
  return {
    name: 'notes',
    prompt: 'Sum up notes.txt.',
    model: { provider: 'script', script: { turns } },
    tools: { read_file: {} },
    output: { schema: { type: 'object', required: ['summary'], properties: { summary: { type: 'string' } } } },
    ...changes,
  };
}

function circular(): object {
  const task: Record<string, unknown> = { prompt: 'x' };
  task['model'] = task;
  return task;
}

function folder(): string {
  return tempTree({ 'notes.txt': 'first line\nsecond line\n' });
}

describe('run, from another program', () => {
  test('gives the result that stands in the run folder', async () => {
    const cwd = folder();
    const { result, exitCode, runDir } = await run(task(), { cwd, env: ENV, out: 'out' });
    expect(exitCode).toBe(0);
    expect(result).toMatchObject({ status: 'success', exit_reason: 'completed', output: { summary: 'two lines' } });
    expect(runDir).toBe(join(cwd, 'out'));
    expect(JSON.parse(readFileSync(join(runDir, 'result.json'), 'utf8'))).toEqual(result);
  });

  test('takes the path of a task file, and files it names lie beside it', async () => {
    const cwd = folder();
    const file = tempTree({
      'task.json': JSON.stringify({ ...task(), output: { schema: 'out.json' } }),
      'out.json': '{}',
    });
    const { result } = await run(join(file, 'task.json'), { cwd, env: ENV });
    expect(result.output).toEqual({ summary: 'two lines' });
  });

  test('lets a listener hear every event after it is on disk', async () => {
    const cwd = folder();
    const heard: RunEvent[] = [];
    const onEvent = (event: RunEvent): void => {
      const lines = readFileSync(join(cwd, 'out/transcript.jsonl'), 'utf8').trimEnd().split('\n');
      expect(JSON.parse(lines.at(-1) ?? '')).toEqual(event);
      heard.push(event);
    };
    const { result } = await run(task(), { cwd, env: ENV, out: 'out', onEvent });
    expect(result.warnings).toEqual([]);
    expect(heard.map(({ type }) => type)).toEqual(expect.arrayContaining(['run_start', 'tool_end', 'run_end']));
  });

  test('tells of a failed run by its result, never by an exception', async () => {
    const turns = [{ text: 'no JSON at all' }];
    const failing = task({
      model: { provider: 'script', script: { turns } },
      output: { schema: {}, repair_attempts: 0 },
    });
    const { result, exitCode } = await run(failing, { cwd: folder(), env: ENV });
    expect([result.status, exitCode]).toEqual(['failure', 3]);
  });

  test('holds the tightest limit of task and caller', async () => {
    const { result } = await run(task(), { cwd: folder(), env: ENV, maxTurns: 1 });
    expect(result.limits.max_turns).toBe(1);
    expect(result.exit_reason).toBe('max_turns');
  });
});

describe("a caller's mistake", () => {
  test.each([
    ['in the task', { prompt: 7 }, {}, 'prompt'],
    ['in an option', {}, { timeout: 'soon' }, '--timeout: found "soon"'],
    ['in an input', {}, { inputs: { nam: 'x' } }, 'inputs.nam'],
  ])('%s throws UsageError before a run folder is made', async (_where, change, options, message) => {
    const cwd = folder();
    const ended = run({ ...task(), ...change } as TaskFile, { cwd, env: ENV, ...options });
    await expect(ended).rejects.toThrow(UsageError);
    await expect(ended).rejects.toThrow(message);
    expect(existsSync(join(cwd, 'agent-run-results'))).toBe(false);
  });

  test.each([
    [{ max_turns: 1 }, 'found the unknown option "max_turns"; did you mean "maxTurns"?'],
    [{ budget: 1 }, 'found the unknown option "budget", expected one of inputs, out,'],
  ])('an option that nobody reads is refused, for it would be no limit: %j', async (options, message) => {
    await expect(run(task(), { env: ENV, ...options })).rejects.toThrow(message);
  });

  test.each([
    ['nothing', undefined, 'found undefined, expected the path of a task file or its content'],
    ['a number', 7 as unknown as object, 'found 7'],
    ['an object that holds itself', circular(), 'the task cannot be written as JSON'],
  ])('%s is no task', async (_what, value, message) => {
    const ended = run(value as TaskFile, { env: ENV });
    await expect(ended).rejects.toThrow(UsageError);
    await expect(ended).rejects.toThrow(message);
  });

  test('an input is a value: "@" reads no file', async () => {
    const cwd = folder();
    const asked = task({ inputs: { who: {} }, prompt: 'For {{ inputs.who }}.' });
    const { runDir } = await run(asked, { cwd, env: ENV, out: 'out', inputs: { who: '@notes.txt' } });
    expect(readFileSync(join(runDir, 'transcript.jsonl'), 'utf8')).toContain('For @notes.txt.');
  });
});

test('a listener that fails later changes nothing of the run, and is told of', async () => {
  const onEvent = async ({ type }: RunEvent): Promise<void> => {
    await Promise.resolve();
    throw new Error(`no room for ${type}`);
  };
  const { result, remark } = await run(task(), { cwd: folder(), env: ENV, onEvent });
  expect([result.status, remark]).toEqual(['success', 'onEvent failed: no room for run_start']);
});

describe('cancelling from another program', () => {
  test('a signal that is aborted in mid-run ends it as SIGTERM does, with its artifacts', async () => {
    const cwd = folder();
    const stop = new AbortController();
    const onEvent = ({ type }: RunEvent): void => {
      if (type === 'tool_start') stop.abort();
    };
    const { result, exitCode } = await run(task(), { cwd, env: ENV, out: 'out', signal: stop.signal, onEvent });
    expect([result.status, exitCode]).toEqual(['cancelled', 143]);
    expect(existsSync(join(cwd, 'out/usage.json'))).toBe(true);
  });

  test('leaves the process alone: no listener for its signals and faults', async () => {
    const listeners = (): number[] =>
      ['SIGINT', 'SIGTERM', 'uncaughtException'].map((name) => process.listenerCount(name));
    const before = listeners();
    let during: number[] = [];
    const onEvent = (): void => {
      during = listeners();
    };
    await run(task(), { cwd: folder(), env: ENV, onEvent });
    expect(during).toEqual(before);
  });
});
