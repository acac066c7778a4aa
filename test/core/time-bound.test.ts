import { describe, expect, test } from 'vitest';
import { withinTime } from '../../src/core/time-bound.ts';

describe('work with a time limit', () => {
  test('gives its value, also when it is nested', () => {
    expect(withinTime(1000, () => withinTime(1000, () => 1))).toEqual({ ok: true, value: { ok: true, value: 1 } });
  });

  test('passes on what the work throws', () => {
    expect(() =>
      withinTime(1000, () => {
        throw new RangeError('mine');
      }),
    ).toThrow(RangeError);
  });

  test('ends a regular expression that would run for years', () => {
    const started = performance.now();
    expect(withinTime(100, () => /^(a+)+$/.test(`${'a'.repeat(60)}!`))).toEqual({ ok: false });
    expect(performance.now() - started).toBeLessThan(1500);
    expect(withinTime(100, () => 'still works')).toEqual({ ok: true, value: 'still works' });
  });
});
