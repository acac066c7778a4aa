import { describe, expect, test } from 'vitest';
import { annotationsOf, SHOWN_PER_LEVEL } from '../../src/action/annotations.ts';

const MAP = {
  items: '/findings',
  path: '/file',
  line: '/line',
  end_line: '/end',
  level: '/severity',
  levels: { high: 'error', low: 'notice' },
  title: '/rule',
  message: '/message',
};
const one = (finding: Record<string, string | number>) => annotationsOf({ findings: [finding] }, MAP).shown[0];

describe('annotations', () => {
  test('take file, lines, level, title and message from where the task says', () => {
    expect(one({ file: './src/a.ts', line: 3, end: 5, severity: 'high', rule: 'r', message: 'm' })).toEqual({
      level: 'error',
      message: 'm',
      place: { title: 'r', file: 'src/a.ts', startLine: 3, endLine: 5 },
    });
  });

  test.each([
    ['high', 'error'],
    ['low', 'notice'],
    ['medium', 'warning'],
    ['notice', 'notice'],
    ['toString', 'warning'],
  ])('of severity %s have the level %s', (severity, level) => {
    expect(one({ severity, message: 'm' })?.level).toBe(level);
  });

  test.each([[0], [-1], [1.5], ['3; rm']])('have no line when the output says %s', (line) => {
    expect(one({ file: 'a', line, message: 'm' })).not.toHaveProperty('place.startLine');
  });

  test('show control characters as escapes', () => {
    expect(one({ message: 'a\u202Eb\u001b[31m' })?.message).toBe(String.raw`a\u202eb\u001b[31m`);
  });

  test('say what they have when there is no message', () => {
    expect(one({ rule: 'only-a-rule' })?.message).toBe('only-a-rule');
    expect(one({ line: 1 })?.message).toBe('a finding without a message');
  });

  test('are none when the output has no list there', () => {
    expect(annotationsOf({ findings: 'none' }, MAP).shown).toEqual([]);
    expect(annotationsOf({}, { ...MAP, items: '/constructor/name' }).shown).toEqual([]);
  });

  test('are at most what GitHub shows of each level, and the rest is counted', () => {
    const many = Array.from({ length: SHOWN_PER_LEVEL + 3 }, () => ({ severity: 'high', message: 'm' }));
    const { shown, left_out } = annotationsOf({ findings: [...many, { severity: 'low', message: 'n' }] }, MAP);
    expect(shown).toHaveLength(SHOWN_PER_LEVEL + 1);
    expect(left_out).toBe(3);
  });

  test('leave room for the lines of the step itself, and for the note that some are left out', () => {
    const of = (severity: string) => Array.from({ length: SHOWN_PER_LEVEL }, () => ({ severity, message: 'm' }));
    const all = { findings: [...of('high'), ...of('low'), ...of('medium')] };
    expect(annotationsOf(all, MAP).left_out).toBe(0);
    const { shown, left_out } = annotationsOf(all, MAP, { error: 1 });
    const count = (level: string): number => shown.filter((annotation) => annotation.level === level).length;
    expect([count('error'), count('warning'), count('notice'), left_out]).toEqual([9, 10, 9, 2]);
  });
});
