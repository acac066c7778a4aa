import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { bundleOptions } from '../../scripts/bundle-options.mjs';
import { closureOf, mergeChunks } from '../../scripts/merge-chunks.mjs';
import { tempFolder, writeTree } from '../helpers/temp.ts';

const SOURCES = {
  'main.js': "import './early.js'; const { start } = await import('./start.js'); await start(process.argv[2]);",
  'early.js': "console.log('early');",
  'start.js': `import { count } from './shared.js'; import './early.js';
    export async function start(what) {
      count();
      if (what === 'cold') await (await import('./cold.js')).cold(); else await (await import('./warm.js')).warm();
    }`,
  'warm.js':
    "import { count } from './shared.js'; console.log('warm is loaded'); export const warm = async () => count();",
  'cold.js':
    "import { count } from './shared.js'; console.log('cold is loaded'); export const cold = async () => count();",
  'shared.js': "let n = 0; console.log('shared is loaded'); export const count = () => console.log('count', (n += 1));",
};

async function merged(): Promise<{ folder: string; outputs: Record<string, { imports: { path: string }[] }> }> {
  const folder = tempFolder();
  writeTree(folder, SOURCES);
  const entryPoints = { main: 'main.js' };
  const { metafile } = await build({
    ...bundleOptions,
    plugins: [],
    absWorkingDir: folder,
    entryPoints,
    outdir: 'dist',
  });
  const options = { entries: ['start.js', 'warm.js'], apart: ['main.js'], banner: bundleOptions.banner.js };
  await mergeChunks(folder, metafile, options);
  return { folder, outputs: metafile.outputs };
}

test('merged chunks run as before: each module once, and not before it is asked for', async () => {
  const { folder } = await merged();
  const run = (what: string): string =>
    spawnSync(process.execPath, [join(folder, 'dist/main.mjs'), what], { encoding: 'utf8' }).stdout;
  expect(run('warm')).toBe('early\nshared is loaded\ncount 1\nwarm is loaded\ncount 2\n');
  expect(run('cold')).toBe('early\nshared is loaded\ncount 1\ncold is loaded\ncount 2\n');
});

test('a chunk that others import too only hands on what the merged file exports', async () => {
  const { folder, outputs } = await merged();
  const start = [...closureOf(outputs, ['start.js'])];
  expect(start.map((path) => path.replace(/-[A-Z0-9]+/, ''))).toEqual([
    'dist/chunks/start.mjs',
    'dist/chunks/chunk.mjs',
  ]);
  const names = Object.keys(outputs).map((path) => path.replace(/-[A-Z0-9]+/, ''));
  expect(names.toSorted()).toEqual([
    'dist/chunks/chunk.mjs',
    'dist/chunks/chunk.mjs',
    'dist/chunks/cold.mjs',
    'dist/chunks/start.mjs',
    'dist/main.mjs',
  ]);
  const cold = [...closureOf(outputs, ['cold.js'])].find((path) => path.includes('/chunk-')) ?? '';
  expect(readFileSync(join(folder, cold), 'utf8')).toMatch(/^export \{ .* \} from "\.\/start-[A-Z0-9]+\.mjs";\n$/);
});
