import { expect, test } from 'vitest';
import { stamp, turnStart, reply, runStart, toolEnd } from '../helpers/events.ts';
import { tempFolder } from '../helpers/temp.ts';
import { load, refusal } from './loading.ts';

const task = JSON.stringify({ prompt: 'x', model: { provider: 'replay', replay: 'recorded' } });
const transcript = stamp([runStart(), turnStart(1), reply(), toolEnd()])
  .map((event) => `${JSON.stringify(event)}\n`)
  .join('');

test('a recorded run stands in the task with what its model said, up to a line that a crash cut', async () => {
  const files = { 'task.json': task, 'recorded/transcript.jsonl': `${transcript}{"seq":5,"ty` };
  const { task: loaded } = await load({ folder: tempFolder(), files });
  expect(loaded.model.replay?.events.map((event) => event['type'])).toEqual(['turn_start', 'model_reply']);
});

test.each([
  ['no such folder', {}, 'recorded'],
  ['no event', { 'recorded/transcript.jsonl': 'nonsense\n' }, 'line 1 of whose transcript is no event'],
  ['no reply', { 'recorded/transcript.jsonl': transcript.split('\n').slice(0, 2).join('\n') }, 'without a reply'],
])('a recording with %s is refused where the task names it', async (_what, files, message) => {
  const text = await refusal({ folder: tempFolder(), files: { 'task.json': task, ...files } });
  expect(text).toContain('task.json:1:');
  expect(text).toContain(message);
});

test('provider replay without a recording says what is missing', async () => {
  const files = { 'task.json': '{ "prompt": "x", "model": { "provider": "replay" } }' };
  expect(await refusal({ folder: tempFolder(), files })).toContain('the key "replay" is missing');
});
