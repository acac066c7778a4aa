import { expect, test } from 'vitest';
import { tempFolder } from '../helpers/temp.ts';
import { load, refusal } from './loading.ts';

const files = (model: object) => ({ 'task.json': JSON.stringify({ prompt: 'x', model }) });

test('platform, region and what is shown of thinking are kept as they are written', async () => {
  const model = { id: 'm', platform: 'bedrock', region: 'eu-central-1', thinking_display: 'summarized' };
  const { task } = await load({ folder: tempFolder(), files: files(model) });
  expect(task.model).toMatchObject({ provider: 'anthropic', ...model });
});

test.each([
  [{ provider: 'openai', id: 'm', platform: 'vertex' }, 'platform'],
  [{ provider: 'openai', id: 'm', thinking_display: 'omitted' }, 'thinking_display'],
  [{ id: 'm', region: 'eu-central-1' }, 'region'],
  [{ id: 'm', platform: 'azure' }, 'expected one of "bedrock", "vertex"'],
  [{ id: 'm', platform: 'bedrock', region: 'EU Central' }, 'region'],
])('%j is refused, and the message names the field', async (model, words) => {
  expect(await refusal({ folder: tempFolder(), files: files(model) })).toContain(words);
});
