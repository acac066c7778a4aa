import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { exitReasonsTable, withTable } from '../../scripts/docs-tables.mjs';
import { EXIT_CODES, EXIT_REASONS } from '../../src/core/outcome.ts';
import { EXIT_TEXTS } from '../../src/run/exit-texts.ts';

const PAGE = readFileSync(fileURLToPath(new URL('../../docs/exit-reasons.md', import.meta.url)), 'utf8');
const TABLE = exitReasonsTable({ EXIT_CODES, EXIT_TEXTS });

test('docs/exit-reasons.md is in step with the records; if not, run node scripts/docs-tables.mjs', () => {
  expect(withTable(PAGE, TABLE)).toBe(PAGE);
});

test('the table has a row for every reason, with all its codes', () => {
  const rows = TABLE.split('\n').slice(2);
  expect(rows).toHaveLength(EXIT_REASONS.length);
  expect(rows.find((row) => row.includes('`cancelled`'))).toMatch(/^\| 129, 130, 143 \| `cancelled` \| \S/);
  expect(rows.find((row) => row.includes('| `max_cost` |'))).toMatch(/^\| 4 \| /);
});

test('a page without marks is refused, not overwritten', () => {
  expect(() => withTable('# Page', TABLE)).toThrow('lacks the marks');
});
