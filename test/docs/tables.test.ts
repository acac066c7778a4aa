import { expect, test } from 'vitest';
import { renderPages } from '../../scripts/readme-tables.mjs';
import { taskReference } from '../../scripts/task-reference.mjs';
import { readText } from '../helpers/pages.ts';

test('the tables of README and docs say what action.yml, schema, options and exit codes say', async () => {
  const stale = [...(await renderPages())].filter(([page, text]) => text !== readText(page)).map(([page]) => page);
  expect(stale, 'run node scripts/readme-tables.mjs').toEqual([]);
});

test('README has the exit codes and the action page its inputs and outputs', () => {
  expect(readText('README.md')).toMatch(/<!-- table: exit-codes -->\n\| code \|[^]*\| 9 \|/);
  expect(readText('docs/github-action.md')).toMatch(/<!-- table: action-inputs -->\n\| input \|[^]*`fail-on`/);
  expect(readText('docs/github-action.md')).toMatch(/<!-- table: action-outputs -->\n\| output \|[^]*`cost-usd`/);
});

test('the task reference says what the schema says, with an example of every field', () => {
  expect(readText('docs/task-reference.md'), 'run node scripts/task-reference.mjs').toBe(taskReference());
  const rows = taskReference()
    .split('\n')
    .filter((line) => /^\| (\*\*)?`/.test(line));
  expect(rows.length).toBeGreaterThan(100);
  // | field | type | default | meaning | example |
  expect(
    rows.filter((line) => line.split(/(?<!\\)\|/).some((cell, at) => [2, 4, 5].includes(at) && !cell.trim())),
  ).toEqual([]);
});
