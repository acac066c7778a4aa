import { describe, expect, test } from 'vitest';
import { useModel } from './model.ts';
import { useRuns } from './runs.ts';

const model = useModel(512);
const run = useRuns();
const WIRES = [
  ['chat completions', () => ({ provider: 'openai', base_url: `${model.url()}/v1` })],
  ['messages', () => ({ provider: 'anthropic', base_url: model.url() })],
] as const;

describe.each(WIRES)('over %s, with a window of 512 tokens,', (_name, wire) => {
  const asked = (more: object = {}): object => ({ ...wire(), id: 'smollm2-135m', max_tokens: 100, ...more });

  test('a prompt that does not fit ends the run as context_exhausted', async () => {
    const { result } = await run({ prompt: 'word '.repeat(2000), model: asked() });
    expect(result).toMatchObject({ exit_code: 4, exit_reason: 'context_exhausted', turns: 0 });
  });

  test('a reply that fills it ends the run by name, within its limits', async () => {
    const prompt = 'Count from 1 to 1000, one number a line.';
    const { result } = await run({ prompt, model: asked({ max_tokens: 3000 }), limits: { max_turns: 2 } });
    expect(['truncated', 'context_exhausted', 'max_turns', 'completed']).toContain(result.exit_reason);
  });
});
