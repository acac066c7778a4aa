import { describe, expect, test } from 'vitest';
import { literal } from '../../../src/policy/shell/judgement.ts';
import { matchesAllow, matchesDeny, parseArgvRule } from '../../../src/policy/shell/rules.ts';

function rule(text: string, kind: 'allow' | 'deny' = 'allow') {
  const parsed = parseArgvRule(text, kind);
  if ('error' in parsed) throw new Error(parsed.error);
  return parsed;
}

describe('a rule is read', () => {
  test('as literal words and a star that stands apart', () => {
    expect(rule('git log *')).toEqual({ text: 'git log *', words: ['git', 'log'], star: true });
    expect(rule('npm test')).toEqual({ text: 'npm test', words: ['npm', 'test'], star: false });
    expect(rule('[ *').words).toEqual(['[']);
  });

  for (const [text, part] of [
    ['', 'empty'],
    ['   ', 'empty'],
    [' git', 'single spaces'],
    ['git  log', 'single spaces'],
    ['git log ', 'single spaces'],
    ['git\tlog', 'control character'],
    ['git\nlog', 'control character'],
    ['*', 'star cannot stand for the program'],
    ['* *', 'star cannot stand for the program'],
    ['git log*', 'git log*'],
    ['git * log', 'separate last star'],
    ['curl https://api.example.com/*', 'https://api.example.com/*'],
    ['npm test && npm run lint', '&&'],
    ['a | b', '|'],
    ['a; b', 'a;'],
    ['a > b', '>'],
    ['a 2>&1', '2>&1'],
    ['echo $(id)', '$(id)'],
    ['echo `id`', '`id`'],
    ["git log --format='%h'", "'%h'"],
    ['"git" log', 'git'],
    ['A=1 git log', 'assignment'],
  ] as const) {
    test(`and ${JSON.stringify(text)} is refused when it is loaded`, () => {
      const parsed = parseArgvRule(text);
      expect('error' in parsed ? parsed.error : '').toContain(part);
    });
  }

  test('and a deny rule may hold wildcards inside words', () => {
    expect(rule('git log --output*', 'deny').star).toBe(true);
    expect(parseArgvRule('*', 'deny')).toHaveProperty('error');
  });
});

describe('an allow rule', () => {
  const args = (...words: string[]) => words.map(literal);

  test('without a star needs the same list', () => {
    expect(matchesAllow(rule('git status'), args('git', 'status'))).toBe(true);
    expect(matchesAllow(rule('git status'), args('git', 'status', '-s'))).toBe(false);
    expect(matchesAllow(rule('git status'), args('git'))).toBe(false);
  });

  test('with a star takes any further arguments, also none', () => {
    expect(matchesAllow(rule('git log *'), args('git', 'log'))).toBe(true);
    expect(matchesAllow(rule('git log *'), args('git', 'log', 'a', 'b'))).toBe(true);
    expect(matchesAllow(rule('git log *'), args('git', 'logs'))).toBe(false);
  });

  test('never takes a glob for one of its words', () => {
    expect(matchesAllow(rule('git log *'), [literal('git'), { text: 'log', kind: 'glob' }])).toBe(false);
  });
});

describe('a deny rule', () => {
  const denied = (text: string, ...args: string[]) => matchesDeny(rule(text, 'deny'), args);

  test('without a star covers exactly its list', () => {
    expect(denied('git push', 'git', 'push')).toBe(true);
    expect(denied('git push', 'git', 'push', 'x')).toBe(false);
  });

  test('finds its options anywhere and in any spelling', () => {
    expect(denied('git push --force *', 'git', 'push', 'origin', '--force')).toBe(true);
    expect(denied('git push --force *', 'git', 'push', '--forc', 'origin')).toBe(true);
    expect(denied('rm -rf *', 'rm', '-f', '-r', 'x')).toBe(true);
    expect(denied('rm -rf *', 'rm', '-r', 'x')).toBe(false);
    expect(denied('git log --output*', 'git', 'log', '-1', '--output=x')).toBe(true);
    expect(denied('git log --output*', 'git', 'log', '--oneline')).toBe(false);
  });

  test('is not fooled by options between its words', () => {
    expect(denied('git push *', 'git', '--no-pager', 'push')).toBe(true);
    expect(denied('git push *', 'git', 'log', 'push')).toBe(false);
  });

  test('finds a wildcard operand at any later place', () => {
    expect(denied('cat *secret*', 'cat', 'a', 'my-secret.txt')).toBe(true);
    expect(denied('cat *secret*', 'cat', 'a')).toBe(false);
  });
});
