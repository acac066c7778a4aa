import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleOptions, ROOT } from '../scripts/bundle-options.mjs';
import { licencesOf } from '../scripts/licences.mjs';

const PROGRAM = `
  const { default: yargs } = await import('yargs');
  const core = await import('@actions/core');
  const { execaSync } = await import('execa');
  const { parseTree } = await import('jsonc-parser');
  await yargs(process.argv.slice(2)).scriptName('x').option('a', { describe: 'short', type: 'string' })
    .option('long-name', { describe: 'long', type: 'boolean' }).parse();
  core.setOutput('kind', parseTree('[1]').type);
  console.log(execaSync('echo', ['ran']).stdout);
  await core.getIDToken('audience').catch((error) => console.log(error.message));`;

let folder: string;
let inputs: string[];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bundle-'));
  const stdin = { contents: PROGRAM, resolveDir: ROOT, sourcefile: 'program.ts' };
  const { metafile } = await build({ ...bundleOptions, stdin, outdir: folder });
  inputs = Object.keys(metafile.inputs);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function runBundle(args: string[] = []): { stdout: string; output: string } {
  const output = join(folder, 'output');
  writeFileSync(output, '');
  const oidc = { ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'x', ACTIONS_ID_TOKEN_REQUEST_URL: 'http://127.0.0.1:9/' };
  const env = { PATH: process.env['PATH'], GITHUB_OUTPUT: output, ...oidc };
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'stdin.mjs'), ...args], {
    encoding: 'utf8',
    env,
  });
  expect(stderr).toBe('');
  return { stdout, output: readFileSync(output, 'utf8') };
}

test('the bundle holds neither undici nor the tables of string-width', () => {
  expect(inputs.filter((path) => /node_modules\/(undici|string-width|get-east-asian-width)\//.test(path))).toEqual([]);
  expect(inputs.some((path) => path.includes('node_modules/@actions/core/'))).toBe(true);
});

test('CommonJS packages, child processes and the step output file work from the bundle', () => {
  const { stdout, output } = runBundle();
  expect(stdout).toContain('ran\n');
  expect(output).toMatch(/^kind<<(\S+)\narray\n\1\n$/);
});

test('an OIDC token asked of @actions/core says that it is not part of the bundle', () => {
  expect(runBundle().stdout).toContain('is not part of this bundle');
});

test('help texts stay aligned with the shim for string-width', () => {
  const columns = ['short', 'long'].map((word) => {
    const line = runBundle(['--help'])
      .stdout.split('\n')
      .find((text) => text.includes(` ${word} `));
    return line?.indexOf(` ${word} `);
  });
  expect(columns[0]).toBeGreaterThan(0);
  expect(columns[1]).toBe(columns[0]);
});

test('the licence of every package in the bundle is listed once', () => {
  const text = licencesOf(ROOT, inputs);
  for (const name of ['@actions/core', 'yargs', 'execa', 'jsonc-parser']) {
    expect(text.match(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, 'gm')), name).toHaveLength(1);
  }
  expect(text).toMatch(/permission is hereby granted/i);
});
