import { describe, expect, test } from 'vitest';
import { watchLines } from '../../src/batch/lines.ts';
import { createLiveArea } from '../../src/subscribers/live-area.ts';
import { attempt, runStart, stamp, turnStart } from '../helpers/events.ts';
import { handClock } from '../helpers/hand-clock.ts';
import type { ReportRun } from '../../src/batch/report.ts';
import type { EventBody } from '../../src/core/events.ts';

const STARTED_MS = Date.parse(stamp([runStart()])[0]?.time ?? '');
const PLACE = { run_dir: 'r', transcript: 't', earlier: [], next: () => null };

function run(task: string, exit_code = 0): ReportRun {
  const ending = exit_code === 0 ? 'completed' : 'max_turns';
  return {
    run_dir: `${task}/ID`, run_id: 'ID', task, file: `${task}.json`, status: exit_code === 0 ? 'success' : 'failure', exit_reason: ending, exit_code, message: 'turn limit\n::error::x', model: 'm',
    turns: 2, total_input_tokens: 1, total_output_tokens: 1, cost_usd: 0.01, duration_ms: 1500, tool_calls: 0, denials: 0, warnings: [], output: null, findings: [],
  }; // prettier-ignore
}

function watched({ terminal = false, quiet = false } = {}) {
  let text = '';
  const clock = handClock(STARTED_MS);
  const write = (more: string): void => void (text += more);
  const live = terminal ? createLiveArea({ write, columns: () => 60 }) : undefined;
  const watch = watchLines({ write, quiet, verbose: false, color: false, clock, live, fault: () => {} });
  watch.begin({ runs: 2, workers: 2, problems: [], report: 'report.json' });
  const hear = (name: string, ...bodies: EventBody[]): void => {
    const subscribers = watch.subscribers(name)(PLACE);
    for (const event of stamp(bodies)) for (const subscriber of subscribers) subscriber.onEvent(event);
  };
  const said = (): string => {
    const all = text.replaceAll('\u001b[1A', '<up>').replaceAll('\r\u001b[J', '<erase>');
    text = '';
    return all;
  };
  return { clock, watch, hear, said };
}

describe('in a log', () => {
  test('each run has a line at its end, and nothing in it is a command of the CI', () => {
    const { watch, said } = watched();
    watch.ended(run('a'));
    watch.ended(run('b', 4));
    expect(said().trimEnd().split('\n')).toEqual([
      'batch: 2 runs, 2 workers, report report.json',
      '[1/2] a: completed (exit 0) | 2 turns, $0.0100, 1.5 s | a/ID',
      '[2/2] b: max_turns (exit 4): turn limit ::error::x | 2 turns, $0.0100, 1.5 s | b/ID',
    ]);
  });

  test('half a minute of silence is told, with what is at work', async () => {
    const { clock, watch, hear, said } = watched();
    hear('a', runStart(), turnStart(1));
    said();
    await clock.pass(30_000);
    expect(said()).toMatch(
      /^still at work: 0\/2 done, 1 at work \| \$0; a: turn 1: waiting for the model, \d+\.\d s\n$/,
    );
    watch.end();
    await clock.pass(300_000);
    expect(said()).toBe('');
  });

  test('a warning that many runs share is told once, also when quiet; a run without a sandbox never hides it', () => {
    const { hear, said } = watched({ quiet: true });
    const bare = { mode: 'auto', active: 'none', detail: 'none here' } as const;
    const start = runStart({ runner: { ...runStart().runner, sandbox: bare } });
    hear('a', start);
    hear('b', start, attempt({ attempt: 1 }));
    expect(said().trimEnd().split('\n')).toEqual([
      '[a] warning: commands run without a sandbox; sandbox: none (none here)',
      expect.stringMatching(/^\[b\] turn 1: attempt 1 of 9 failed/),
    ]);
  });

  test('quiet leaves what failed', () => {
    const { watch, said } = watched({ quiet: true });
    watch.ended(run('a'));
    expect(said()).toBe('');
    watch.ended(run('b', 4));
    expect(said()).toMatch(/^\[2\/2\] b: max_turns/);
  });
});

test('on a terminal a table shows what runs, in columns for every writing, and goes at the end', () => {
  const { watch, hear, said } = watched({ terminal: true });
  said();
  hear('漢字', runStart(), turnStart(1));
  hear('ab', runStart(), turnStart(2));
  const rows = said().split('<erase>').at(-1)?.split('\n') ?? [];
  expect(rows).toEqual([
    expect.stringMatching(/^ {2}漢字 {2}turn 1: waiting for the model, /),
    expect.stringMatching(/^ {2}ab {4}turn 2: waiting for the model, /),
    '0/2 done, 2 at work | $0',
  ]);
  watch.ended(run('ab'));
  expect(said()).toMatch(/^<up><up><erase>\[1\/2\] ab: completed[^\n]*\n/);
  watch.end();
  expect(said()).toBe('<up><erase>');
});
