import { expect, test } from 'vitest';
import { createBodies } from '../../src/subscribers/bodies.ts';
import { replyWithCalls, runStart, stamp, toolEnd, turnStart } from '../helpers/events.ts';

test('every text stands whole in the log of bodies, and nothing else does', () => {
  let text = '';
  const bodies = createBodies((more) => void (text += more));
  const long = 'x'.repeat(5000);
  const events = [
    runStart({ system: 'Be brief.' }),
    turnStart(1),
    replyWithCalls('bash', [JSON.stringify({ command: long })]),
    toolEnd({ name: 'bash', content: [{ type: 'text', text: `out ${long}` }] }),
  ];
  for (const event of stamp(events)) bodies.onEvent(event);
  expect(text.match(/^== .*$/gm)).toEqual([
    expect.stringMatching(/^== 1 \S+ system of pr-review$/),
    expect.stringMatching(/^== 3 \S+ reply of turn 1 by \S+ \(tool_use\)$/),
    expect.stringMatching(/^== 4 \S+ result of bash \(ok\) toolu_\S+$/),
  ]);
  expect(text).toContain(`{"command":"${long}"}`);
  expect(text).toContain(`out ${long}`);
});
