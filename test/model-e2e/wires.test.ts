// The same runs over both endpoints of one llama.cpp server.
import { describe, expect, test } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { useModel } from './model.ts';
import { useRuns } from './runs.ts';
import type { ModelRun } from './runs.ts';

const model = useModel(4096);
const run = useRuns();
const COLOUR = {
  type: 'object',
  properties: { colour: { type: 'string', enum: ['red', 'green', 'blue'] }, warm: { type: 'boolean' } },
  required: ['colour', 'warm'],
  additionalProperties: false,
};
const SHOW = {
  name: 'show',
  description: 'Shows a file.',
  input_schema: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] },
  command: ['cat', '{{ file }}'],
  effect: 'read',
};
const chat = (more: object = {}): object => ({
  provider: 'openai',
  base_url: `${model.url()}/v1`,
  id: 'smollm2-135m',
  max_tokens: 120,
  ...more,
});
const messages = (more: object = {}): object => chat({ provider: 'anthropic', base_url: model.url(), ...more });
const WIRES = [
  ['chat completions', chat],
  ['messages', messages],
] as const;

const done = ({ code, result }: ModelRun): unknown => ({ code, reason: result.exit_reason });

describe('an answer by a schema', () => {
  const task = { prompt: 'Which colour has the sky?', output: { schema: COLOUR, repair_attempts: 1 } };

  test('is valid where response_format binds the model to it', async () => {
    const ran = await run({ ...task, model: chat({ response_format: true }) });
    expect(done(ran)).toEqual({ code: 0, reason: 'completed' });
    expect(ran.result.output).toMatchObject({ colour: expect.stringMatching(/^(red|green|blue)$/) });
    expect(ran.result.turns).toBe(1);
  });

  test.each(WIRES)('is asked for through the output tool over %s, and taken only if valid', async (_name, wire) => {
    const ran = await run({ ...task, model: wire({ response_format: false }) });
    expect(['completed', 'output_invalid', 'output_missing', 'truncated']).toContain(ran.result.exit_reason);
  });
});

describe.each(WIRES)('over %s', (_name, wire) => {
  test('a tool that the model calls is run, and the run ends by a limit or an answer', async () => {
    const limits = { max_turns: 2 };
    const ran = await run({ prompt: 'Show the file README.md.', model: wire(), custom_tools: [SHOW], limits });
    const ends = ran.events.filter((event) => event.type === 'tool_end');
    expect(ends[0]).toMatchObject({ status: 'ok', content: [{ text: expect.stringContaining('Lighthouse') }] });
    expect(['completed', 'max_turns', 'truncated', 'output_missing']).toContain(ran.result.exit_reason);
    expect((await replay({ run_dir: ran.run_dir })).divergence).toBeNull();
  });

  test('a call that the model writes in free text is run, under tool_protocol xml', async () => {
    const limits = { max_turns: 2 };
    const model = wire({ tool_protocol: 'xml', max_tokens: 60 });
    const ran = await run({ prompt: 'Show the file README.md.', model, custom_tools: [SHOW], limits });
    const ends = ran.events.filter((event) => event.type === 'tool_end');
    expect(ends[0]).toMatchObject({ status: 'ok', content: [{ text: expect.stringContaining('Lighthouse') }] });
    expect(['completed', 'max_turns', 'truncated', 'output_missing']).toContain(ran.result.exit_reason);
    expect((await replay({ run_dir: ran.run_dir })).divergence).toBeNull();
  });

  test('tokens are counted as the server counts them', async () => {
    const before = await model.worked();
    const { result } = await run({
      prompt: 'Tell a story of a lighthouse.',
      model: wire({ max_tokens: 60 }),
      limits: { max_turns: 1 },
    });
    const after = await model.worked();
    const { total_input_tokens = 0, total_cache_read_input_tokens = 0, total_output_tokens, estimated } = result.usage;
    expect({ prompt: total_input_tokens - total_cache_read_input_tokens, output: total_output_tokens }).toEqual({
      prompt: after.prompt - before.prompt,
      output: after.output - before.output,
    });
    expect(estimated).toBe(false);
  });

  test('a reply arrives in pieces, and a signal in the middle of it ends run and generation', async () => {
    const streaming = async (): Promise<void> => {
      while (model.pieces() < 8) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    const ran = await run({ prompt: 'Count from 1 to 1000.', model: wire({ max_tokens: 3000 }) }, streaming);
    expect(done(ran)).toEqual({ code: 130, reason: 'cancelled' });
    expect(ran.ending_ms).toBeLessThan(3000);
    expect(ran.result.usage.estimated).toBe(true);
    expect(ran.result.usage['total_output_tokens']).toBeGreaterThan(0);
    const { output } = await model.worked();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect((await model.worked()).output).toBe(output);
  });
});
