import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gitRepo } from '../helpers/git-repo.ts';
import { writeTree } from '../helpers/temp.ts';
import { batchFolder, taskText, tellBatch, type ToldBatch } from './harness.ts';

const say = (text: string): string => taskText([{ text }]);
const THREE = { 'a.json': say('A'), 'b.json': say('B'), 'c.json': say('C') };
const GO_ON = { continue: true };

/** Which runs were taken over, by name. */
const carried = ({ report }: ToldBatch): string[] => report.runs.filter((run) => run.carried).map(({ task }) => task);

describe('a batch that goes on', () => {
  test('does not run again what was finished, whatever its verdict', async () => {
    const cwd = batchFolder({ ...THREE, 'b.json': taskText([{ text: 'no' }], { output: { schema: { type: 'object' }, repair_attempts: 0 } }) }); // prettier-ignore
    const first = await tellBatch(cwd, ['*.json'], {}, { cancel_after: 2 });
    expect(first.exit_code).toBe(143);
    expect(first.report.not_started).toEqual([expect.objectContaining({ task: 'c', reason: 'cancelled' })]);
    const second = await tellBatch(cwd, ['*.json'], GO_ON);
    expect(carried(second)).toEqual(['a', 'b']);
    expect(second.report.runs.map(({ task, exit_code }) => [task, exit_code])).toEqual([
      ['a', 0],
      ['b', 3],
      ['c', 0],
    ]);
    expect(second.run('a')?.run_id).toBe(first.run('a')?.run_id);
    expect(carried(await tellBatch(cwd, ['*.json'], GO_ON))).toEqual(['a', 'b', 'c']);
  });

  test('resumes in its own folder what a signal cut', async () => {
    const slow = taskText([{ tool_use: [{ name: 'read_file', input: { path: 'x' } }] }, { text: 'S', delay_ms: 60_000 }], { tools: { read_file: {} } }); // prettier-ignore
    const cwd = batchFolder({ 'a.json': slow, 'b.json': say('B') });
    const first = await tellBatch(cwd, ['*.json'], { workers: '2' }, { cancel_after: 1 });
    expect(first.run('a')).toMatchObject({ exit_reason: 'cancelled', exit_code: 143, turns: 1 });
    quicken(cwd, first.run('a')?.run_dir ?? '');
    const second = await tellBatch(cwd, ['*.json'], GO_ON);
    expect(second.run('a')).toMatchObject({ exit_code: 0, output: 'S', turns: 2 });
    expect(second.run('a')?.run_dir).toBe(first.run('a')?.run_dir);
  });

  test('takes what was spent before into account', async () => {
    const usage = { input_tokens: 600_000, output_tokens: 0 };
    const paid = taskText([{ text: 'x', usage }], { prices: { input: 1, output: 1 } });
    const cwd = batchFolder({ 'a.json': paid, 'b.json': paid });
    await tellBatch(cwd, ['*.json'], {}, { cancel_after: 1 });
    const { report, run } = await tellBatch(cwd, ['*.json'], { ...GO_ON, 'max-total-cost-usd': '0.6' });
    expect(run('b')).toMatchObject({ exit_reason: 'max_cost', turns: 0 });
    expect(report.totals.cost_usd).toBe(0.6);
  });

  test('runs again what is another task now, and what has lost its folder', async () => {
    const cwd = batchFolder(THREE);
    const first = await tellBatch(cwd, ['*.json']);
    writeFileSync(join(cwd, 'a.json'), say('changed'));
    rmSync(join(cwd, 'agent-run-results', first.run('b')?.run_dir ?? ''), { recursive: true });
    expect(carried(await tellBatch(cwd, ['*.json'], GO_ON))).toEqual(['c']);
  });

  test('takes over nothing from another commit of the workspace', async () => {
    const repo = gitRepo({ 'x.txt': '1\n' });
    writeTree(repo.root, THREE);
    await tellBatch(repo.root, ['*.json']);
    expect(carried(await tellBatch(repo.root, ['*.json'], GO_ON))).toHaveLength(3);
    repo.git('commit', '--allow-empty', '-qm', 'more');
    expect(carried(await tellBatch(repo.root, ['*.json'], GO_ON))).toEqual([]);
  });

  test('passes over a torn line of its record, and never leaves its folder', async () => {
    const cwd = batchFolder(THREE);
    await tellBatch(cwd, ['*.json']);
    const record = join(cwd, 'agent-run-results/batch.jsonl');
    const moved = readFileSync(record, 'utf8').replaceAll('"run_dir":"a/', '"run_dir":"../a/');
    writeFileSync(record, moved);
    appendFileSync(record, '{"type":"run_begin","key":"');
    expect(carried(await tellBatch(cwd, ['*.json'], GO_ON))).toEqual(['b', 'c']);
  });
});

/** The script's pause is over: the recorded task is what a resumed run plays. */
function quicken(cwd: string, run_dir: string): void {
  const transcript = join(cwd, 'agent-run-results', run_dir, 'transcript.jsonl');
  writeFileSync(transcript, readFileSync(transcript, 'utf8').replace('"delay_ms":60000', '"delay_ms":0'));
}
