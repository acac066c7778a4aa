// README.zh-CN.md is kept in step: what can be compared without knowing the language is the same.
import { describe, expect, test } from 'vitest';
import { readText } from '../helpers/pages.ts';

const [english, chinese] = [readText('README.md'), readText('README.zh-CN.md')];

/** Fenced blocks without their comments, which are translated. */
function blocks(page: string): string[] {
  return [...page.matchAll(/^```[a-z]+\n[^]*?^```$/gm)].map(([block]) => block.replaceAll(/\s*#.*$/gm, ''));
}

/** For each table: rows, columns, and what stands in backticks, row by row. */
function tables(page: string): unknown[] {
  const found = page.replaceAll(/^```[^]*?^```$/gm, '').match(/(?:^\|.*\n)+/gm) ?? [];
  return found.map((table) => {
    const rows = table.trim().split('\n');
    const words = rows.map((row) =>
      [...row.matchAll(/`([^`]+)`|^\| (\d[\d, ]*) \|/g)].map((match) => match[1] ?? match[2]),
    );
    return { columns: rows[0]?.split(' | ').length, words };
  });
}

describe('the Chinese README', () => {
  test('has the same commands, tasks and workflows', () => {
    expect(blocks(english).length).toBeGreaterThan(3);
    expect(blocks(chinese)).toEqual(blocks(english));
  });

  test('has the same tables', () => {
    expect(tables(english).length).toBeGreaterThanOrEqual(3);
    expect(tables(chinese)).toEqual(tables(english));
  });

  test('has a heading for each heading, of the same rank, in Chinese', () => {
    const ranks = (page: string): string[] => page.match(/^#+(?= )/gm) ?? [];
    expect(ranks(chinese)).toEqual(ranks(english));
    const headings = chinese.match(/^## .*$/gm) ?? [];
    expect(headings.filter((heading) => !/\p{Script=Han}/u.test(heading))).toEqual([]);
  });

  test('leads to the same places', () => {
    const links = (page: string): string[] =>
      [...page.matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1] ?? '').sort();
    const others = (page: string): string[] => links(page).filter((link) => !link.startsWith('README'));
    expect(others(chinese)).toEqual(others(english));
  });

  test('translates every sentence', () => {
    const prose = chinese.replaceAll(/^```[^]*?^```$/gm, '').replaceAll(/`[^`]*`|\]\([^)]*\)/g, '');
    expect(prose.match(/(?:\b[a-z]{2,}\b[ ,.;]+){5,}/g)).toBeNull();
  });
});
