import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { globSync } from 'tinyglobby';
import { describe, expect, test } from 'vitest';
import { findViolations, HOMES, MAX_LINES } from './helpers/architecture.ts';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** What the checker says about files given as path and text. */
function check(files: Record<string, string>): string[] {
  return findViolations(Object.entries(files).map(([path, text]) => ({ path, text })));
}

function dependencies(): { runtime: string[]; all: string[] } {
  const manifest: unknown = JSON.parse(read('package.json'));
  const names = (field: string): string[] =>
    typeof manifest === 'object' && manifest !== null && field in manifest
      ? Object.keys((manifest as Record<string, object>)[field] ?? {}) // npm refuses a manifest of another shape
      : [];
  const runtime = [...names('dependencies'), ...names('optionalDependencies')];
  return { runtime, all: [...runtime, ...names('devDependencies')] };
}

describe('the source tree', () => {
  const paths = globSync('src/**/*.ts', { cwd: ROOT }).sort();

  test('keeps its layers, package homes and sizes, and has no import cycle', () => {
    expect(findViolations(paths.map((path) => ({ path, text: read(path) })))).toEqual([]);
  });

  test('knows a home for every runtime dependency', () => {
    expect(dependencies().runtime.filter((name) => HOMES[name] === undefined)).toEqual([]);
  });

  test('has a line for every dependency in decision records 0002 and 0009, and no line for one that left', () => {
    const record = ['0002-dependencies', '0009-development-tools']
      .map((name) => read(`docs/decisions/${name}.md`))
      .join('');
    const listed = [...record.matchAll(/^\| `([^`]+)`/gm)].map((match) => match[1] ?? '');
    expect(listed.sort()).toEqual(dependencies().all.sort());
  });
});

describe('the checker', () => {
  test('accepts a graph that keeps the rules', () => {
    const files = {
      'src/core/usage.ts': `import Ajv from 'ajv/dist/2020.js';\nimport table from '../../schemas/x.json' with { type: 'json' };`,
      'src/model/pricing.ts': `import type { Usage } from '../core/usage.ts'; import { x } from './x.ts';`,
      'src/run/run.ts': `import { readFile } from 'node:fs/promises'; await import('../model/pricing.ts');`,
      'src/cli/main.ts': `const yargs = await import('yargs'); import { run } from '../run/run.ts';`,
    };
    expect(check(files)).toEqual([]);
  });

  test.each([
    ['a static import', `import { loop } from '../agent/loop.ts';`],
    ['a type import', `import type { Loop } from '../agent/loop.ts';`],
    ['an inline type import', `export type Loop = import('../agent/loop.ts').Loop;`],
    ['a dynamic import', `await import('../agent/loop.ts');`],
    ['a re-export', `export { loop } from '../agent/loop.ts';`],
  ])('refuses %s that breaks a layer', (_kind, text) => {
    expect(check({ 'src/tools/bash.ts': text })).toEqual([
      'src/tools/bash.ts imports src/agent/loop.ts; tools may import core',
    ]);
  });

  test('refuses an import of src by core and one of a layer-1 folder by a front door', () => {
    const broken = check({
      'src/core/usage.ts': `import '../run/run.ts';`,
      'src/cli/main.ts': `import '../agent/loop.ts';`,
    });
    expect(broken).toEqual([
      'src/core/usage.ts imports src/run/run.ts; core may import nothing',
      'src/cli/main.ts imports src/agent/loop.ts; cli may import run, config, core, reports, batch, publish',
    ]);
  });

  test('ignores imports that stand in comments and strings', () => {
    expect(
      check({ 'src/core/a.ts': `// import x from 'yargs'\nexport const text = "import y from '../run/run.ts'";` }),
    ).toEqual([]);
  });

  test('refuses an import it cannot read and one that leaves src', () => {
    expect(check({ 'src/core/a.ts': `await import(name); import '../../test/helpers/b.ts';` })).toEqual(
      expect.arrayContaining([
        'src/core/a.ts imports a computed name; write it as a literal',
        'src/core/a.ts imports test/helpers/b.ts, which lies outside src',
      ]),
    );
  });

  test('refuses a package outside its home and a development package anywhere', () => {
    expect(check({ 'src/tools/bash.ts': `import { execa } from 'execa'; import 'vitest';` })).toEqual([
      'src/tools/bash.ts imports execa, whose home is workspace',
      'src/tools/bash.ts imports vitest, which has no home in src',
    ]);
  });

  test('names the files of an import cycle, types included', () => {
    const files = {
      'src/agent/a.ts': `import './b.ts';`,
      'src/agent/b.ts': `import type { C } from './c.ts';`,
      'src/agent/c.ts': `import './b.ts';`,
    };
    expect(check(files)).toEqual(['import cycle: src/agent/b.ts -> src/agent/c.ts -> src/agent/b.ts']);
  });

  test('refuses a file that is too long, an index of re-exports, a utils folder and an unknown folder', () => {
    expect(check({ 'src/core/long.ts': '\n'.repeat(MAX_LINES) + 'export {};' })).toHaveLength(1);
    expect(check({ 'src/core/index.ts': `export * from './a.ts';` })).toHaveLength(1);
    expect(check({ 'src/core/utils/a.ts': `export const a = 1;` })).toHaveLength(1);
    expect(check({ 'src/misc/a.ts': `export const a = 1;` })).toHaveLength(1);
    expect(check({ 'src/a.ts': `export const a = 1;` })).toHaveLength(1);
  });
});
