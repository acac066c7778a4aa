// The package as others get it: staged, packed, installed into a project of its own.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../../scripts/bundle-options.mjs';
import { writeTree } from '../helpers/temp.ts';

const CONSUMER = `
import { run, UsageError, type ResultFile, type RunEvent, type TaskFile } from 'agent-run';

const task: TaskFile = {
  prompt: 'Say hello.',
  model: { provider: 'script', script: { turns: [{ text: 'Hello.' }] } },
};
const seen: RunEvent['type'][] = [];
const { result, exitCode }: { result: ResultFile; exitCode: number } = await run(task, {
  out: 'out',
  onEvent: (event) => seen.push(event.type),
});
// @ts-expect-error a limit is a number
await run(task, { maxTurns: 'three' }).catch((error: unknown) => seen.push(error instanceof UsageError ? 'run_end' : 'notice'));
console.log(JSON.stringify([exitCode, result.output, seen[0], seen.at(-1)]));
`;
const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    skipLibCheck: false,
    types: ['node'],
    outDir: 'js',
  },
  files: ['consumer.mts'],
};

let project: string;
let installed: string;
let size: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'agent-run-consumer-'));
  const staged = join(project, 'staged');
  size = node(['scripts/stage.mjs', staged], ROOT);
  writeTree(project, {
    'package.json': '{ "private": true, "type": "module" }',
    'consumer.mts': CONSUMER,
    'tsconfig.json': JSON.stringify(TSCONFIG),
  });
  npm(['pack', staged, '--silent']);
  npm(['install', '--offline', '--no-audit', '--no-fund', './agent-run-0.1.0.tgz']);
  installed = join(project, 'node_modules/agent-run');
}, 600_000); // seconds, but on a machine that is busy with everything else
afterAll(() => rmSync(project, { recursive: true, force: true }));

function node(args: string[], cwd: string): string {
  return execFileSync(process.execPath, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function npm(args: string[]): void {
  execFileSync('npm', args, { cwd: project, stdio: ['ignore', 'pipe', 'pipe'] });
}

test('brings no other package with it and stays below 3 MB packed', () => {
  expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['agent-run']);
  expect(Number(/([\d.]+) MB packed/.exec(size)?.[1])).toBeLessThan(3);
});

test('holds what is needed and nothing else', () => {
  expect(readdirSync(installed).sort()).toEqual(
    [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'README.zh-CN.md',
      'action',
      'action.yml',
      'dist',
      'package.json',
      'schemas',
    ].sort(),
  );
  expect(existsSync(join(installed, 'dist/meta.json'))).toBe(false);
});

test('has nothing that publint finds fault with', async () => {
  expect((await publint({ pkgDir: installed })).messages).toEqual([]);
});

test('gives a TypeScript project its types, and runs in it', () => {
  for (const name of ['@types', 'undici-types', 'typescript', '@typescript']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
  }
  node(['node_modules/typescript/bin/tsc'], project);
  expect(JSON.parse(node(['js/consumer.mjs'], project))).toEqual([0, 'Hello.', 'run_start', 'run_end']);
});

test('lets tools find the schemas by the package name', () => {
  const program = `console.log(import.meta.resolve('agent-run/schemas/task.schema.json'))`;
  const path = new URL(node(['--input-type=module', '-e', program], project).trim());
  expect(JSON.parse(readFileSync(path, 'utf8'))).toHaveProperty('$id');
});

test('has a command that runs', () => {
  expect(node([join(project, 'node_modules/.bin/agent-run'), '--version'], project).trim()).toBe('0.1.0');
});
