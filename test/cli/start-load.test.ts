import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closureOf } from '../../scripts/merge-chunks.mjs';
import { ROOT } from '../../scripts/bundle-options.mjs';

type Outputs = Record<string, { inputs: object; imports: { path: string; kind: string }[] }>;

// What the build wrote of itself; `npm test` and the check build first.
const { outputs } = JSON.parse(readFileSync(join(ROOT, 'dist/meta.json'), 'utf8')) as { outputs: Outputs };

/** Chunks that a plain `agent-run TASK` loads up to its first request. */
const chunks = [...closureOf(outputs, ['src/cli/main.ts', 'src/cli/start.ts'])];
const inputs = chunks.flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));

test('a plain start loads a handful of files, with everything up to the first request in them', () => {
  expect(chunks.length).toBeLessThanOrEqual(4);
  for (const needed of ['src/run/run.ts', 'src/config/load.ts', 'src/model/anthropic.ts', 'src/core/task-check.ts']) {
    expect(inputs).toContain(needed);
  }
});

test.each([
  ['what parses other command lines', /node_modules\/yargs/],
  ['what starts commands and asks git for more than its state', /node_modules\/(execa|simple-git)\//],
  ['what compiles schemas', /node_modules\/ajv\/dist\/(core|ajv|2020|compile\/index)\.js$/],
  ['what words the errors of a task', /src\/core\/task-validator\.ts$/],
  ['templates, YAML and positions in JSON', /node_modules\/(liquidjs|yaml|jsonc-parser)\//],
  ['other models and protocols', /node_modules\/(openai|@modelcontextprotocol)\//],
  ['the shell parser and the judge of commands', /node_modules\/unbash\/|danger-table\.json$|shell\/judge\.ts$/],
  ['walking of folders', /node_modules\/(tinyglobby|fdir|ignore)\//],
  ['the Actions toolkit', /node_modules\/@actions\//],
])('a plain start does not load %s', (_what, pattern) => {
  expect(inputs.filter((path) => pattern.test(path))).toEqual([]);
});

test('a plain start brings no TLS, no threads and no resolver', () => {
  const builtins = chunks
    .flatMap((path) => outputs[path]?.imports ?? [])
    .filter(({ kind }) => kind === 'import-statement');
  const names = builtins.map(({ path }) => path.replace(/^node:/, ''));
  expect(names.filter((name) => ['https', 'tls', 'worker_threads', 'dns', 'dns/promises'].includes(name))).toEqual([]);
});
