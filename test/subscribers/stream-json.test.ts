import { expect, test } from 'vitest';
import { createStreamJson } from '../../src/subscribers/stream-json.ts';
import { reply, runStart, stamp } from '../helpers/events.ts';

test('each event is one line with the value that the transcript holds', () => {
  const writes: string[] = [];
  const stream = createStreamJson((line) => void writes.push(line));
  const events = stamp([runStart(), reply({ content: [{ type: 'text', text: 'a\nb\u2028c' }] })]);
  for (const event of events) stream.onEvent(event);
  expect(writes).toHaveLength(2);
  expect(writes.every((line) => /^[^\n\r\u2028]+\n$/.test(line))).toBe(true);
  expect(writes.map((line) => JSON.parse(line) as unknown)).toEqual(events);
});

test('no line holds what a CI system reads as a command', () => {
  let text = '';
  const stream = createStreamJson((line) => void (text += line));
  const [event] = stamp([reply({ content: [{ type: 'text', text: '::error::x ##[group]y' }] })]);
  if (event) stream.onEvent(event);
  expect(text).not.toMatch(/::|##\[/);
  expect(JSON.parse(text)).toEqual(event);
});
