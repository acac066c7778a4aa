import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { taskText } from '../batch/harness.ts';
import { useCli } from '../helpers/cli.ts';
import { tempTree } from '../helpers/temp.ts';
import type { BatchReport } from '../../src/batch/report.ts';

const cli = useCli();
const SLOW = taskText([{ text: 'x', delay_ms: 60_000 }]);

/** A batch of three with two workers, told to end once both are at work. */
async function started(): Promise<{ child: ChildProcess; cwd: string; exit: Promise<unknown[]> }> {
  const cwd = tempTree({ 'a.json': SLOW, 'b.json': SLOW, 'c.json': SLOW });
  const argv = [cli.path(), 'run', '*.json', '--workers', '2', '--format', 'stream-json'];
  const env = { PATH: process.env['PATH'], HOME: cwd };
  const child = spawn(process.execPath, argv, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const exit = once(child, 'close');
  let seen = '';
  for await (const chunk of child.stdout) {
    seen += String(chunk);
    if (seen.split('"type":"turn_start"').length > 2) break;
  }
  child.stdout.resume();
  return { child, cwd, exit };
}

const reportIn = (cwd: string): BatchReport =>
  JSON.parse(readFileSync(join(cwd, 'agent-run-results/report.json'), 'utf8')) as BatchReport;

describe('a batch that is told to end', () => {
  test('ends every run with its artifacts, begins none, and has the code of the signal', async () => {
    const { child, cwd, exit } = await started();
    child.kill('SIGTERM');
    const [code] = await exit;
    expect(code).toBe(143);
    const report = reportIn(cwd);
    expect(report.runs.map(({ task, exit_code }) => [task, exit_code])).toEqual([
      ['a', 143],
      ['b', 143],
    ]);
    expect(report.not_started.map(({ task, reason }) => [task, reason])).toEqual([['c', 'cancelled']]);
    for (const run of report.runs) {
      const result: unknown = JSON.parse(
        readFileSync(join(cwd, 'agent-run-results', run.run_dir, 'result.json'), 'utf8'),
      );
      expect(result).toMatchObject({ status: 'cancelled', exit_code: 143 });
    }
  });

  test('twice still leaves the results and the report', async () => {
    const { child, cwd, exit } = await started();
    child.kill('SIGINT');
    child.kill('SIGTERM');
    const [code] = await exit;
    expect([130, 143]).toContain(code); // whichever was heard first
    const report = reportIn(cwd);
    expect(report.totals).toMatchObject({ cancelled: 2, exit_code: code });
    expect(report.not_started.map(({ task }) => task)).toEqual(['c']);
    for (const run of report.runs) readFileSync(join(cwd, 'agent-run-results', run.run_dir, 'result.json'));
  });
});

test('a batch that was killed goes on: what was finished is not paid again, what was begun is resumed', async () => {
  const call = { tool_use: [{ name: 'read_file', input: { path: 'x' } }] };
  const slow = taskText([call, { text: 'slow', delay_ms: 2500 }], { tools: { read_file: {} } });
  const cwd = tempTree({ 'a.json': taskText([{ text: 'quick' }]), 'b.json': slow });
  const argv = ['run', '*.json', '--format', 'stream-json'];
  const env = { PATH: process.env['PATH'], HOME: cwd };
  const child = spawn(process.execPath, [cli.path(), ...argv], { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const exit = once(child, 'close');
  let seen = '';
  for await (const chunk of child.stdout) {
    seen += String(chunk);
    if (/"type":"turn_start","turn":2/.test(seen)) break;
  }
  child.kill('SIGKILL');
  await exit;
  const second = await cli.run(['run', '*.json', '--continue', '--format', 'json'], { cwd });
  expect(second.code).toBe(0);
  const { runs } = JSON.parse(second.stdout) as BatchReport;
  expect(runs.map(({ task, output, turns, carried }) => [task, output, turns, carried ?? false])).toEqual([
    ['a', 'quick', 1, true],
    ['b', 'slow', 2, false],
  ]);
  const ids = [...seen.matchAll(/"run_id":"([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids)).toEqual(new Set(runs.map(({ run_id }) => run_id)));
});
