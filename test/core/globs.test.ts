import { describe, expect, test } from 'vitest';
import { compileGlobs, globRegExp, isLiteral } from '../../src/core/globs.ts';

const admits = (patterns: string[], path: string): boolean => compileGlobs(patterns)(path)?.included === true;

describe('a list of globs', () => {
  test.each([
    ['**', '.github/workflows/ci.yml'],
    ['**', 'a\nb'],
    ['src/**', 'src/.hidden/x'],
    ['./src/**', 'src/a.ts'],
    ['src/*', 'src/a.ts'],
    ['**/*.ts', 'a.ts'],
    ['**/*.{ts,md}', 'docs/a.md'],
    ['app/[id]/page.tsx', 'app/[id]/page.tsx'],
    ['src/a(1).ts', 'src/a(1).ts'],
    ['?.ts', 'a.ts'],
  ])('with %j admits %j', (pattern, path) => expect(admits([pattern], path)).toBe(true));

  test.each([
    ['src/**', 'src'],
    ['src/**', 'srcx/a'],
    ['src/**', 'a/src/b'],
    ['src/*', 'src/a/b'],
    ['*.ts', 'src/a.ts'],
    ['**', '../a'],
    ['src/**', 'src/../a'],
    ['src/a.ts', 'src/aXts'],
    ['!src/**', 'docs/a'],
  ])('with %j does not admit %j', (pattern, path) => expect(admits([pattern], path)).toBe(false));

  test('excludes whatever the order is, without regard to case, and says by which pattern', () => {
    expect(admits(['!src/gen/**', 'src/**'], 'src/gen/a')).toBe(false);
    expect(admits(['src/**', '!src/gen/**'], 'src/GEN/a')).toBe(false);
    expect(admits(['src/**', '!src/gen/**'], 'src/gen\n/a')).toBe(true);
    expect(admits(['src/**', '!src/gen/**'], 'src/gen/a\nb')).toBe(false);
    expect(compileGlobs(['src/**', '!src/gen/**'])('src/gen/a')).toEqual({
      pattern: '!src/gen/**',
      included: false,
      exact: false,
    });
  });

  test('prefers the pattern that names the path itself', () => {
    expect(compileGlobs(['**', './AGENTS.md'])('AGENTS.md')).toEqual({
      pattern: './AGENTS.md',
      included: true,
      exact: true,
    });
    expect(compileGlobs(['**'])('**')).toMatchObject({ exact: false });
  });

  test('says nothing about a path that no pattern matches', () => {
    expect(compileGlobs(['src/**'])('docs/a')).toBeUndefined();
  });
});

test('a literal pattern has no wildcard', () => {
  expect(['src/a.ts', '.github/workflows/ci.yml'].map(isLiteral)).toEqual([true, true]);
  expect(['src/*', 'a?', '{a,b}', '[a]', '!a', 'a(b)'].map(isLiteral)).toEqual([
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test('an unusable pattern has no regular expression', () => {
  expect(['', 'a\0b', 'x'.repeat(1001)].map((pattern) => globRegExp(pattern))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
