import { describe, expect, test } from 'vitest';
import { createLiveArea } from '../../src/subscribers/live-area.ts';
import { createProgress, type ProgressOptions } from '../../src/subscribers/progress.ts';
import { attempt, replyWithCalls, runStart, stamp, toolEnd, turnStart } from '../helpers/events.ts';
import { handClock } from '../helpers/hand-clock.ts';
import type { EventBody } from '../../src/core/events.ts';
import type { HandClock } from '../helpers/hand-clock.ts';

const STARTED_MS = Date.parse(stamp([runStart()])[0]?.time ?? '');
const CALL: EventBody = { type: 'tool_start', tool_use_id: 'toolu_1', name: 'bash', effect: 'write', early: false };
const END = {
  type: 'run_end',
  outcome: { reason: 'completed' },
  exit_code: 0,
  message: 'completed',
} satisfies EventBody;

interface Watched {
  clock: HandClock;
  hear: (...bodies: EventBody[]) => void;
  /** What was written since it was last asked. */
  said: () => string;
}

function watched(options: Partial<ProgressOptions> = {}, live = false): Watched {
  let text = '';
  const clock = handClock(STARTED_MS);
  const write = (more: string): void => void (text += more);
  const progress = createProgress({
    write,
    verbose: false,
    quiet: false,
    color: false,
    transcript: 't.jsonl',
    next: () => null,
    clock,
    ...(live ? { live: createLiveArea({ write, columns: () => 200 }) } : {}),
    ...options,
  });
  const said = (): string => {
    const all = text.replaceAll('\r\u001b[J', '<erase>');
    text = '';
    return all;
  };
  return { clock, said, hear: (...bodies) => stamp(bodies).forEach((event) => progress.onEvent(event)) };
}

describe('in a log', () => {
  test('half a minute without an event is told, with what is waited for, and so is each further one', async () => {
    const { clock, hear, said } = watched();
    hear(runStart(), turnStart(1));
    said();
    await clock.pass(29_999);
    expect(said()).toBe('');
    await clock.pass(30_001);
    const lines = said().trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^still at work: turn 1: waiting for the model, (29|30)\.\d s; 30 turns, 19m \d+s left$/);
  });

  test('an event begins the waiting anew, and the end stops it', async () => {
    const { clock, hear, said } = watched();
    hear(runStart(), turnStart(1));
    await clock.pass(20_000);
    hear(replyWithCalls('bash', ['{"command":"npm test"}']), CALL);
    said();
    await clock.pass(20_000);
    expect(said()).toBe('');
    await clock.pass(10_000);
    expect(said()).toContain('bash {"command":"npm test"}');
    hear(END);
    said();
    await clock.pass(300_000);
    expect(said()).toBe('');
  });

  test('nothing is told to who wants quiet, but what went wrong', async () => {
    const { clock, hear, said } = watched({ quiet: true });
    hear(runStart(), turnStart(1), attempt({ attempt: 1 }));
    await clock.pass(300_000);
    hear(END);
    expect(said().trimEnd().split('\n')).toEqual([expect.stringContaining('attempt 1 of 9 failed')]);
    const failed = watched({ quiet: true });
    failed.hear({ ...END, outcome: { reason: 'output_missing', detail: 'x' }, exit_code: 3 });
    expect(failed.said()).toMatch(/^agent-run: output_missing \(exit 3\)/);
  });
});

describe('on a terminal', () => {
  test('one line shows turn, call, tokens, cost and what is left, and moves with the time', async () => {
    const { clock, hear, said } = watched({}, true);
    hear(runStart(), turnStart(1), replyWithCalls('bash', ['{"command":"npm test"}']), CALL);
    const before = said();
    expect(before).toMatch(
      /turn 1: bash \{"command":"npm test"\}, .* \| [\d,]+ tokens in, \d+ out, \$[\d.]+ \| 29 turns, \d+m \d+s left$/,
    );
    await clock.pass(1000);
    expect(said()).toMatch(/^<erase>turn 1: bash/);
  });

  test('warnings stay above it, lines of ordinary events do not come, and the end takes it away', () => {
    const { hear, said } = watched({}, true);
    hear(runStart(), turnStart(1));
    said();
    hear(attempt({ attempt: 1 }));
    expect(said()).toMatch(/^<erase>turn 1: attempt 1 of 9 failed: [^\n]*\nturn 1: /);
    hear(replyWithCalls('bash', ['{}']), toolEnd({ name: 'bash' }));
    expect(said()).not.toContain('\n');
    hear(END);
    expect(said()).toMatch(/^<erase>agent-run: completed \(exit 0\)[^\n]*\n$/);
  });

  test('no text of others can move the cursor', () => {
    const { hear, said } = watched({}, true);
    hear(runStart(), replyWithCalls('bash', [JSON.stringify({ command: 'a\u001b[2J\r\nb' })]), CALL);
    const text = said();
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\r');
  });
});
