import { expect, test } from 'vitest';
import { isMultipleOf } from '../../src/core/decimal.ts';

test('multiples are counted in decimal digits', () => {
  const yes: [number, number][] = [[1.11, 0.01], [143.48, 0.01], [8.69, 0.01], [0.3, 0.1], [-4, 2], [0, 5], [1e21, 3e20 / 3], [1e-7, 1e-8]]; // prettier-ignore
  const no: [number, number][] = [[1.115, 0.01], [0.1 + 0.2, 0.1], [5, 2], [Number.NaN, 1], [Number.POSITIVE_INFINITY, 1], [1, 0]]; // prettier-ignore
  for (const [value, step] of yes) expect([value, step, isMultipleOf(value, step)]).toEqual([value, step, true]);
  for (const [value, step] of no) expect([value, step, isMultipleOf(value, step)]).toEqual([value, step, false]);
});
