import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isJsonObject } from '../../src/core/json.ts';
import { PAGES, readText, ROOT } from '../helpers/pages.ts';

const lines = (page: string): number => readText(page).trimEnd().split('\n').length;
const srcFolders = readdirSync(join(ROOT, 'src'));

describe('pages stay short', () => {
  test.each([
    ['README.md', 150],
    ['CONTRIBUTING.md', 60],
    ['AGENTS.md', 60],
  ])('%s has at most %i lines', (page, most) => {
    expect(lines(page)).toBeLessThanOrEqual(most);
  });

  test('a decision record has at most 40 lines', () => {
    const long = PAGES.filter((page) => page.startsWith('docs/decisions/') && lines(page) > 40);
    expect(long).toEqual([]);
  });

  test('an example is explained in about ten lines', () => {
    const examples = PAGES.filter((page) => page.startsWith('examples/'));
    expect(examples.length).toBeGreaterThan(0);
    expect(examples.filter((page) => lines(page) > 16)).toEqual([]);
  });
});

describe('what pages name exists', () => {
  test('every relative link leads to a file', () => {
    const broken = PAGES.flatMap((page) =>
      [...readText(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map((match) => match[1] ?? '')
        .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(ROOT, dirname(page), target)))
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  test('every path of the repository in backticks is there', () => {
    const broken = PAGES.flatMap((page) =>
      [...readText(page).matchAll(/`((?:src|test|scripts|schemas|docs|examples|tools)\/[^`*\s]*)`/g)]
        .map((match) => match[1] ?? '')
        .filter((path) => !existsSync(join(ROOT, path)))
        // Paths of a workspace in an example of a rule, not of this repository.
        .filter((path) => !path.includes('…'))
        .map((path) => `${page}: ${path}`),
    );
    expect(broken).toEqual([]);
  });

  test('the list of pages has every page', () => {
    const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md');
    const list = readText('docs/README.md');
    expect(pages.filter((name) => !list.includes(`](${name})`))).toEqual([]);
  });

  test('the architecture page explains every folder of src, and no other', () => {
    const named = [...readText('docs/architecture.md').matchAll(/^\| `src\/([a-z]+)` \|/gm)].map((match) => match[1]);
    expect(new Set(named)).toEqual(new Set(srcFolders));
  });

  test('the tools page has a row for every tool a task can name', () => {
    const schema: unknown = JSON.parse(readText('schemas/task.schema.json'));
    const properties = isJsonObject(schema) && isJsonObject(schema['properties']) ? schema['properties'] : {};
    const tools = isJsonObject(properties['tools']) ? properties['tools']['properties'] : {};
    const rows = [...(readText('docs/tools.md').split('\n## ')[0] ?? '').matchAll(/^\| `([a-z_]+)` \| `/gm)].map(
      (match) => match[1],
    );
    expect(new Set(rows)).toEqual(new Set(Object.keys(isJsonObject(tools) ? tools : {})));
  });
});

test('no page names a path of the machine it was written on', () => {
  expect(PAGES.filter((page) => /(^|[\s`'"(])\/(work|root|home\/(?!runner))\//m.test(readText(page)))).toEqual([]);
});
