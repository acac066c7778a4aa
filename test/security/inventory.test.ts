import { expect, test } from 'vitest';
import { CASES, casesOf } from './driver/cases.ts';

const SHELL =
  'allow-shell chain substitution expansion redirect state builtin-eval chars wrapper git-arg prog-arg match';
const REST = 'glob-option file git-tool secrets network git-config symlink sandbox process emit data trust mcp';

test('every case is run by a test', () => {
  const run = new Set(casesOf(...`${SHELL} ${REST}`.split(' ')));
  expect(CASES).toHaveLength(234);
  expect(CASES.filter((one) => !run.has(one))).toEqual([]);
  const tools = casesOf('data').map(({ tool }) => tool);
  expect([...new Set(tools)]).toEqual(['schema', 'tool-input', 'task']);
});
