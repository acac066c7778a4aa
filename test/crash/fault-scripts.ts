// Scripts of a model, a service and a workspace that do everything wrong, for property tests.

import * as fc from 'fast-check';
import type { ScriptTurn } from '../../src/core/config.ts';
import type { Story } from '../run/harness.ts';

export const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'integer' } },
  required: ['a'],
  additionalProperties: false,
};
export const GATE = { properties: { a: { minimum: 1 } } };

const STOP_REASONS = ['end_turn', 'tool_use', 'max_tokens', 'stop_sequence', 'pause_turn', 'refusal', 'model_context_window_exceeded', 'compaction', 'of the future']; // prettier-ignore

const text = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'done',
    '{"a":1}',
    '{"a":0}',
    '{"a":"x"}',
    '{"a":1',
    '```json\n{"a":2}\n```',
    'null',
    '\ud800',
  ),
  fc.string({ maxLength: 40 }),
);

const input = fc.oneof(
  fc.constantFrom(
    { path: 'README.md' },
    { path: '../out' },
    { path: 'docs/a.md', file_text: 'x' },
    { a: 1 },
    { a: 0 },
    {},
  ),
  fc.dictionary(
    fc.constantFrom('path', 'a', 'command', 'pattern'),
    fc.constantFrom(null, 0, '', [], {}, '\ud800', 'docs/../README.md', '/etc/passwd', 'echo hi'),
    {
      maxKeys: 2,
    },
  ),
);

const name = fc.constantFrom('read_file', 'glob', 'write_file', 'submit_result', 'bash', 'nope', '');

const call = fc.oneof(
  { weight: 5, arbitrary: fc.record({ name, input }) },
  {
    weight: 1,
    arbitrary: fc.record({
      name,
      input_json: fc.constantFrom('', '{', 'null', '[]', '{"a":1}{"a":2}', '{"a":1e999}', '{"__proto__":{}}'),
    }),
  },
);

const error = fc.record({
  status: fc.constantFrom(400, 401, 403, 404, 413, 429, 500, 529),
  headers: fc.constantFrom({ 'retry-after-ms': '5' }, { 'retry-after': '60' }, { 'retry-after-ms': '1' }),
});

const count = fc.constantFrom(0, 1, 10, 5000, 10_000_000);

const turn: fc.Arbitrary<ScriptTurn> = fc.oneof(
  { weight: 1, arbitrary: error.map((one): ScriptTurn => ({ error: one })) },
  {
    weight: 5,
    arbitrary: fc.record(
      {
        text,
        tool_use: fc.array(call, { maxLength: 4 }),
        stop_reason: odd(fc.constantFrom(...STOP_REASONS)),
        usage: odd(fc.record({ input_tokens: count, output_tokens: count })),
        delay_ms: fc.constantFrom(0, 1, 20),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<ScriptTurn>, // records of exactly these fields
  },
);

/** Mostly left out, so that runs also get far. */
function odd<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });

/** How a script goes on when its faults are over: not at all, or with what may be an answer. */
const ending: fc.Arbitrary<ScriptTurn[]> = fc.constantFrom(
  [],
  Array.from({ length: 4 }, (): ScriptTurn => ({ text: '{"a":1}' })),
  Array.from({ length: 4 }, (_, a): ScriptTurn => ({ tool_use: [{ name: 'submit_result', input: { a } }] })),
  [
    { tool_use: [{ name: 'write_file', input: { path: 'docs/a.md', file_text: 'x' } }] },
    { text: '{"a":1}' },
    { text: 'x' },
  ],
);

const limits = fc.record({
  timeout: fc.constantFrom('700ms', '1500ms'),
  max_turns: maybe(fc.constantFrom(1, 2, 5)),
  max_output_tokens: maybe(fc.constantFrom(20, 6000)),
  max_total_tokens: maybe(fc.constantFrom(50, 20_000)),
  max_tool_calls: maybe(fc.constantFrom(1, 3)),
  max_denials: maybe(fc.constantFrom(1, 3)),
  max_retries: fc.constantFrom(0, 1, 2),
  on_limit: fc.constantFrom('finalize', 'finalize_fail', 'stop'),
});

const output = fc.constantFrom(
  {},
  { schema: SCHEMA },
  { schema: SCHEMA, gate: GATE },
  { schema: SCHEMA, repair_attempts: 0 },
);

const verify = fc.constantFrom(
  [],
  [{ run: ['true'] }],
  [{ run: ['test', '-f', 'docs/a.md'], attempts: 2 }],
  [{ run: ['false'], attempts: 1 }],
);

/** A whole run: its task, what the model says, and what goes wrong. */
export const faultStory: fc.Arbitrary<Story> = fc
  .record({
    limits,
    output,
    verify,
    prompt: fc.constantFrom('one', ['one', 'two']),
    turns: fc.array(turn, { maxLength: 6 }),
    ending,
  })
  .map(({ turns, ending: last, ...task }) => ({
    task: {
      ...task,
      tools: { read_file: {}, glob: {}, write_file: { paths: ['docs/**'] }, bash: { allow: ['echo *'] } },
    },
    turns: [...turns, ...last],
  }));
