import { describe, expect, test } from 'vitest';
import { createPurse } from '../../src/batch/purse.ts';

describe('a purse', () => {
  test('without a total leaves each run its own limit', () => {
    const purse = createPurse(undefined);
    expect([purse.take(null), purse.take(3)]).toEqual([{ limit_usd: null }, { limit_usd: 3 }]);
  });

  test('reserves what a run may spend, and takes back what it did not', () => {
    const purse = createPurse(10);
    const first = purse.take(6);
    expect(first).toEqual({ limit_usd: 6 });
    expect(purse.take(6)).toBe('wait'); // 4 are left, but the first may give 6 back
    expect(purse.take(4)).toEqual({ limit_usd: 4 });
    if (typeof first === 'object') purse.settle(first, 1);
    expect(purse.take(5)).toEqual({ limit_usd: 5 });
    expect(purse.spent_usd).toBe(1);
  });

  test('gives the last run what is left when nobody can give anything back', () => {
    const purse = createPurse(10);
    purse.spend(9);
    expect(purse.take(5)).toEqual({ limit_usd: 1 });
    expect(purse.take(5)).toBe('wait');
  });

  test('gives everything to a run without a limit, so it goes alone', () => {
    const purse = createPurse(10);
    const share = purse.take(null);
    expect(share).toEqual({ limit_usd: 10 });
    expect(purse.take(null)).toBe('wait');
    if (typeof share === 'object') purse.settle(share, null); // unknown counts as all of it
    expect(purse.take(null)).toBe('empty');
  });
});
