import { expect, test } from 'vitest';
import { didYouMean, nearest } from '../../src/core/nearest.ts';

test('the nearest name is found within a third of the word, whatever its spelling style', () => {
  const names = ['max_turns', 'max_tokens', 'timeout'];
  expect(['max_turn', 'maxTurns', 'MAX-TURNS', 'timout', 'temperature'].map((word) => nearest(word, names))).toEqual([
    'max_turns',
    'max_turns',
    'max_turns',
    'timeout',
    undefined,
  ]);
});

test('the word itself is never suggested, and nothing is said when nothing is near', () => {
  expect(nearest('timeout', ['timeout'])).toBeUndefined();
  expect(didYouMean('x'.repeat(1000), ['xx'])).toBe('');
  expect(didYouMean('prompts', ['prompt'])).toBe('; did you mean "prompt"?');
});
