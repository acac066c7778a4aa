import { describe, expect, test } from 'vitest';
import { batchFolder, readJson, taskText, tellBatch } from './harness.ts';
import type { ScriptTurn } from '../../src/core/config.ts';

const CALL: ScriptTurn = { tool_use: [{ name: 'read_file', input: { path: 'x' } }] };
const slow = (tools: object): string => taskText([CALL, { text: 'x', delay_ms: 150 }], { tools });
const READS = { read_file: {} };
const WRITES = { ...READS, write_file: {} };

/** The most runs that were under way at one moment. */
async function atOnce(tasks: Record<string, object>, workers = 4): Promise<number> {
  let now = 0;
  let most = 0;
  const cwd = batchFolder(
    Object.fromEntries(Object.entries(tasks).map(([name, tools]) => [`${name}.json`, slow(tools)])),
  );
  await tellBatch(cwd, ['*.json'], { workers: String(workers) }, {
    subscribers: () => () => [
      {
        name: 'counter',
        onEvent({ type }) {
          if (type === 'run_start') now += 1;
          if (type === 'run_end') now -= 1;
          most = Math.max(most, now);
        },
      },
    ],
  }); // prettier-ignore
  return most;
}

describe('in one workspace', () => {
  test('runs that only read go side by side, as many as there are workers', async () => {
    expect(await atOnce({ a: READS, b: READS, c: READS }, 2)).toBe(2);
  });

  test('runs with effects wait for each other', async () => {
    expect(await atOnce({ a: WRITES, b: WRITES, c: READS })).toBe(1);
  });
});

test('runs with effects in workspaces of their own go side by side', async () => {
  const rows = '{"name":"one","workspace":"w1"}\n{"name":"two","workspace":"w2"}\n{"name":"in","workspace":"w2/sub"}';
  const cwd = batchFolder({ 'a.json': slow(WRITES), 'r.jsonl': rows, 'w1/x': '', 'w2/sub/x': '' });
  const order: string[] = [];
  await tellBatch(cwd, ['a.json'], { rows: 'r.jsonl', workers: '3' }, {
    subscribers: (name) => () => [{ name: 'order', onEvent: ({ type }) => void (type.startsWith('run_') && order.push(`${type} ${name}`)) }],
  }); // prettier-ignore
  expect(order.slice(0, 2).toSorted()).toEqual(['run_start a.in', 'run_start a.one']); // the inner folder is the outer's
  expect(order.indexOf('run_start a.two')).toBeGreaterThan(order.indexOf('run_end a.in'));
});

test('no run reads or writes what the batch and its other runs record', async () => {
  const look = taskText(
    [
      { tool_use: [
        { name: 'read_file', input: { path: 'agent-run-results/batch.jsonl' } },
        { name: 'write_file', input: { path: 'agent-run-results/report.json', content: '{}' } },
      ] },
      { text: 'x' },
    ],
    { tools: WRITES },
  ); // prettier-ignore
  const told = await tellBatch(batchFolder({ 'a.json': look }), ['*.json']);
  const result = readJson(told.cwd, 'agent-run-results', told.run('a')?.run_dir ?? '', 'result.json');
  expect(result).toMatchObject({ exit_code: 0, tool_calls: { total: 2, denied: 1, failed: 1 } });
});
