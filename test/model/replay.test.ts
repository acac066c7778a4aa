import { describe, expect, test } from 'vitest';
import { readTurns } from '../../src/model/recording.ts';
import { createRecordedClient, createReplayClient, LOST_INPUT } from '../../src/model/replay.ts';
import { attempt, replyWithCalls, reply, stamp, turnStart, usage } from '../helpers/events.ts';
import { modelConfig } from './setup.ts';
import type { EventBody } from '../../src/core/events.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { ModelRequest, SendHooks } from '../../src/core/ports.ts';

const early = (id: string): EventBody => ({
  type: 'tool_start',
  tool_use_id: id,
  name: 'look',
  effect: 'read',
  early: true,
});
const failed = (kind: 'aborted' | 'api_error', turn = 1): EventBody => ({
  type: 'model_failed',
  turn,
  kind,
  message: 'x',
});

function request(turn?: number): ModelRequest {
  return { system: '', tools: [], messages: [], max_tokens: 1, ...(turn === undefined ? {} : { turn }) };
}

/** Hooks that write down what they hear, in order. */
function listening(): { heard: string[]; hooks: SendHooks } {
  const heard: string[] = [];
  const hooks: SendHooks = {
    onBlock: (block) => heard.push(`block ${block.id} ${block.input_json === LOST_INPUT ? 'lost' : block.input_json}`),
    onDiscard: () => heard.push('discard'),
    onAttempt: (one) => heard.push(`attempt ${one.attempt}`),
    admit: () => undefined,
  };
  return { heard, hooks };
}

const never = new AbortController().signal;

function recorded(bodies: EventBody[]) {
  const events = stamp(bodies) as unknown as JsonObject[];
  return createRecordedClient(modelConfig({ provider: 'replay', id: 'replay', replay: { events } }), 0);
}

describe('a recorded turn', () => {
  test('is played with its attempts and the calls they had handed out', async () => {
    const turns = readTurns([turnStart(1), early('toolu_9'), attempt(), replyWithCalls('look', ['{"a":1}'])]);
    const { heard, hooks } = listening();
    const client = createReplayClient(modelConfig(), { take: () => turns.shift(), at_ms: 0, lost_calls: true });
    expect(await client.send(request(1), hooks, never)).toMatchObject({ ok: true, stop_reason: 'tool_use' });
    expect(heard).toEqual(['block toolu_9 lost', 'discard', 'attempt 1', 'block toolu_1 {"a":1}']);
  });

  test('ends as it did when no reply came', async () => {
    const turns = readTurns([turnStart(1), attempt(), early('toolu_9'), failed('api_error')]);
    const { heard, hooks } = listening();
    const client = createReplayClient(modelConfig(), { take: () => turns.shift(), at_ms: 0, lost_calls: true });
    expect(await client.send(request(1), hooks, never)).toEqual({ ok: false, kind: 'api_error', message: 'x' });
    expect(heard).toEqual(['attempt 1', 'block toolu_9 lost']);
  });

  test('waits until each of its events is due', async () => {
    const turns = readTurns([turnStart(1), attempt(), reply()]);
    const { heard, hooks } = listening();
    const due = async (event: EventBody | undefined): Promise<void> => void heard.push(`due ${event?.type}`);
    const client = createReplayClient(modelConfig(), { take: () => turns.shift(), due, at_ms: 0, lost_calls: true });
    await client.send(request(1), hooks, never);
    expect(heard).toEqual(['due attempt', 'attempt 1', 'due model_reply']);
  });
});

describe('provider replay', () => {
  test('answers each turn by its number, with the usage of the recording', async () => {
    const client = recorded([turnStart(1), reply(), turnStart(2), reply({ message_id: 'msg_2', turn: 2 })]);
    const { hooks } = listening();
    expect(await client.send(request(2), hooks, never)).toMatchObject({ message_id: 'msg_2' });
    expect(await client.send(request(1), hooks, never)).toMatchObject({ message_id: 'msg_1', usage: usage() });
  });

  test('leaves out what ended a turn from outside, and calls without their input', async () => {
    const client = recorded([turnStart(1), early('toolu_9'), failed('aborted'), turnStart(1), attempt(), reply()]);
    const { heard, hooks } = listening();
    expect(await client.send(request(1), hooks, never)).toMatchObject({ ok: true });
    expect(heard).toEqual(['attempt 1']);
  });

  test('says so when the recording has no such turn, or the run is over', async () => {
    const client = recorded([turnStart(1), reply()]);
    const { hooks } = listening();
    expect(await client.send(request(7), hooks, never)).toMatchObject({
      kind: 'api_error',
      message: expect.stringContaining('turn 7') as unknown,
    });
    expect(await client.send(request(1), hooks, AbortSignal.abort())).toMatchObject({ kind: 'aborted' });
  });
});
