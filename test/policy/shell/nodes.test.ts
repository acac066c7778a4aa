import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NODES, refusedNode } from '../../../src/policy/shell/nodes.ts';
import { parseShell } from '../../../src/policy/shell/parse.ts';

const main = createRequire(import.meta.url).resolve('unbash');
const types = readFileSync(join(dirname(main), 'types.d.ts'), 'utf8');

// Results of a parse that are no nodes of the tree themselves.
const NO_NODES = new Set<string>([]);

describe('the table of node kinds', () => {
  test('lists every kind that the grammar names, and no other', () => {
    const named = new Set([...types.matchAll(/readonly type: "(\w+)"/g)].map((match) => match[1] ?? ''));
    expect([...named].filter((name) => !NO_NODES.has(name)).sort()).toEqual(Object.keys(NODES).sort());
  });

  test('refuses a kind that it does not list', () => {
    expect(refusedNode('Hologram')).toContain('Hologram');
    expect(refusedNode('constructor')).toContain('constructor');
    expect(refusedNode('Command')).toBeUndefined();
  });

  for (const [text, part] of [
    ['a &', 'background'],
    ['A=1', 'assignment'],
    ['f() { a; }', 'function'],
    ['coproc a', 'coprocess'],
    ['for f in a; do b; done', 'loop'],
    ['select f in a; do b; done', 'select'],
    ['case a in b) c;; esac', 'case'],
    ['[[ a ]]', '[[ ]]'],
    ['((1))', 'arithmetic'],
    ['time a', 'time'],
    ['a $(b)', 'substitution'],
    ['a `b`', 'substitution'],
    ['a <(b)', 'substitution'],
    ['a {b,c}', 'brace'],
    ['a $"b"', 'translated'],
    ['a "', 'no complete'],
    ['a $(b "', 'no complete'],
    [`${'( '.repeat(100)}a${')'.repeat(100)}`, 'deep'],
    [`a ${'('.repeat(20_000)}`, 'no complete'],
  ] as const) {
    test(`keeps ${JSON.stringify(text.slice(0, 40))} from being judged further`, async () => {
      const parsed = await parseShell(text);
      expect('refused' in parsed ? parsed.refused : 'parsed').toMatch(
        new RegExp(`${part.replaceAll('[', '\\[')}|deep`),
      );
    });
  }
});
