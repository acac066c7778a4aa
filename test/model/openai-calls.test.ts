import { expect, test } from 'vitest';
import { addCallDelta, closeCalls, wholeCalls } from '../../src/model/openai-calls.ts';
import type { OpenCall } from '../../src/model/openai-calls.ts';
import type { JsonObject } from '../../src/core/json.ts';

/** The calls that a list of deltas makes, each as id, name and input. */
function collect(deltas: JsonObject[], taken: string[] = [], exact?: string): string[][] | undefined {
  const calls: OpenCall[] = [];
  for (const delta of deltas) addCallDelta(calls, delta, () => exact);
  return closeCalls(calls, new Set(taken), (text) => text)?.map(({ id, name, input_json }) => [id, name, input_json]);
}

const fn = (name: string | undefined, args?: unknown) =>
  ({ ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) }) as JsonObject;

test.each([undefined, null, '', '  ', 'null'])('B183: arguments that are %j mean none', (args) => {
  expect(collect([{ index: 0, id: 'a', function: fn('f', args) }])).toEqual([['a', 'f', '{}']]);
});

test('arguments that are a value are taken as they were written', () => {
  const delta = { index: 0, id: 'a', function: fn('f', { a: 1 }) };
  expect(collect([delta], [], '{"a": 1.0}')).toEqual([['a', 'f', '{"a": 1.0}']]);
});

test('interleaved deltas find their call by the index, also when the name or the id is repeated', () => {
  const deltas = [
    { index: 0, id: 'a', function: fn('f', '{"x"') },
    { index: 1, id: 'b', function: fn('g', '{') },
    { index: 0, id: 'a', function: fn('f', ':1}') },
    { index: 1, id: 'changed', function: fn('', '}') },
  ];
  expect(collect(deltas)).toEqual([
    ['a', 'f', '{"x":1}'],
    ['b', 'g', '{}'],
  ]);
});

test('calls without an index, or all with the same one, stay apart', () => {
  const apart = [
    ['a', 'f', '{"x":1}'],
    ['b', 'f', '{"x":2}'],
  ];
  for (const index of [undefined, 0]) {
    const place = index === undefined ? {} : { index };
    const deltas = apart.flatMap(([id = '', name, args = '']) => [
      { ...place, id, function: fn(name, args.slice(0, 3)) },
      { ...place, function: fn(undefined, args.slice(3)) },
    ]);
    expect(collect(deltas)).toEqual(apart);
  }
});

test('calls that share an id, or have none, get ids that no call of the history has', () => {
  const same = [0, 1].map((index) => ({ index, id: 'a', function: fn('f', '{}') }));
  expect(collect(same)?.map(([id]) => id)).toEqual(['a', 'a_2']);
  expect(collect(same, ['a', 'a_2'])?.map(([id]) => id)).toEqual(['a_3', 'a_4']);
  const whole = [
    { id: 'a', function: fn('f', '{"x":1}') },
    { id: 'a', function: fn('f', '{"x":2}') },
  ];
  expect(collect(whole)).toEqual([
    ['a', 'f', '{"x":1}'],
    ['a_2', 'f', '{"x":2}'],
  ]);
  const none = [{ function: fn('f', '{}') }, { function: fn('g', '{}') }];
  expect(collect(none, ['call_2'])?.map(([id]) => id)).toEqual(['call_2_2', 'call_3']);
});

test('a call without a name is none', () => {
  expect(collect([{ index: 0, id: 'a', function: fn(undefined, '{}') }])).toBeUndefined();
});

test('calls are whole early when another one has begun and their JSON is', () => {
  const whole = (deltas: JsonObject[]): number => {
    const calls: OpenCall[] = [];
    for (const delta of deltas) addCallDelta(calls, delta, () => undefined);
    return wholeCalls(calls);
  };
  const first = { index: 0, id: 'a', function: fn('f', '{"x":1}') };
  const second = { index: 1, id: 'b', function: fn('g', '{"y":') };
  expect(whole([])).toBe(0);
  expect(whole([first])).toBe(0);
  expect(whole([first, second])).toBe(1);
  expect(whole([second, first])).toBe(0);
  expect(whole([{ ...first, id: '' }, second])).toBe(0);
  expect(whole([first, second, { index: 1, function: fn('', '2}') }, { index: 2, id: 'c', function: fn('h') }])).toBe(
    2,
  );
});
