import { describe, expect, test } from 'vitest';
import { readFindings, valueAt } from '../../src/core/findings.ts';
import type { FindingsMap } from '../../src/core/config.ts';

const MAP: FindingsMap = {
  items: '/findings',
  path: '/file',
  line: '/at/line',
  end_line: '/at/end',
  level: '/severity',
  levels: { high: 'error', low: 'notice' },
  title: '/rule',
  message: '/message',
};

test('a finding is read through the pointers of the task', () => {
  const item = { file: 'a.ts', at: { line: 3, end: 5 }, severity: 'high', rule: 'sql', message: 'bad' };
  expect(readFindings({ findings: [item] }, MAP)).toEqual([
    { level: 'error', path: 'a.ts', line: 3, end_line: 5, title: 'sql', message: 'bad' },
  ]);
});

test('what an item lacks is null, and what is no line number is none', () => {
  const nothing = { path: null, line: null, end_line: null, title: null, message: null };
  const items = [{}, 'text', { at: { line: '7', end: -1 } }];
  expect(readFindings(items, { ...MAP, items: '' })).toEqual(items.map(() => ({ level: 'warning', ...nothing })));
});

test.each([
  ['high', 'error'],
  ['low', 'notice'],
  ['error', 'error'],
  ['constructor', 'warning'],
  ['medium', 'warning'],
  [3, 'warning'],
])('severity %j is the level %s', (severity, level) => {
  expect(readFindings({ findings: [{ severity }] }, MAP)?.[0]?.level).toBe(level);
});

test('an output without a list there has no findings to speak of', () => {
  expect(readFindings({ findings: 'none' }, MAP)).toBeNull();
  expect(readFindings('text', MAP)).toBeNull();
  expect(readFindings({ findings: [] }, MAP)).toEqual([]);
});

describe('a JSON pointer', () => {
  const value = { 'a/b': { '~': [10, { c: null }] } };

  test.each([
    ['', value],
    ['/a~1b/~0/0', 10],
    ['/a~1b/~0/1/c', null],
    ['/a~1b/~0/01', undefined],
    ['/a~1b/~0/-', undefined],
    ['/a~1b/~0/length', undefined],
    ['/toString', undefined],
    ['/a~1b/x/y', undefined],
  ])('%j names %j', (pointer, found) => {
    expect(valueAt(value, pointer)).toEqual(found);
  });
});
