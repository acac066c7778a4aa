import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const SETUP = fileURLToPath(new URL('../../scripts/setup.mjs', import.meta.url));
const RECORDING = `require('node:fs').appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n');`;
const EARLIER = new Date(1_700_000_000_000);
const LATER = new Date(1_800_000_000_000);

const a = { version: '1.0.0', integrity: 'sha512-a' };
const otherPlatform = { version: '1.0.0', integrity: 'sha512-b', optional: true };
const root = { dependencies: { a: '1.0.0' } };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'setup-'));
  put('scripts/setup.mjs', '');
  copyFileSync(SETUP, join(folder, 'scripts/setup.mjs'));
  put('npm.cjs', RECORDING);
  put('build.mjs', `import { appendFileSync } from 'node:fs'; appendFileSync('calls', 'build\\n');`);
  put('package.json', JSON.stringify(root));
  putLock('package-lock.json', { '': root, 'node_modules/a': a, 'node_modules/b': otherPlatform });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text: string, time = EARLIER): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  utimesSync(join(folder, path), time, time);
}

function putLock(path: string, packages: Record<string, object>): void {
  put(path, JSON.stringify({ packages }));
}

/** What setup started, in order: the arguments of npm, or "build". */
function runSetup(...args: string[]): string[] {
  const env = { ...process.env, npm_execpath: join(folder, 'npm.cjs') };
  const done = spawnSync(process.execPath, ['scripts/setup.mjs', ...args], { cwd: folder, encoding: 'utf8', env });
  expect({ status: done.status, stdout: done.stdout }, done.stderr).toEqual({ status: 0, stdout: '' });
  const calls = join(folder, 'calls');
  return existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : [];
}

describe('setup installs', () => {
  const install = ['ci --include=dev'];

  test('when nothing is installed, or an install was cut short', () => {
    expect(runSetup()).toEqual(install);
  });

  test('nothing when the tree is what the lock file asks for, without the binaries of other platforms', () => {
    putLock('node_modules/.package-lock.json', { 'node_modules/a': a });
    expect(runSetup()).toEqual([]);
  });

  test.each([
    ['another content', { 'node_modules/a': { ...a, integrity: 'sha512-z' } }],
    ['a package less', {}],
    ['a package more', { 'node_modules/a': a, 'node_modules/c': a }],
  ])('when the tree has %s', (_what, packages) => {
    putLock('node_modules/.package-lock.json', packages);
    expect(runSetup()).toEqual(install);
  });

  test('when package.json asks for something that the lock file does not know', () => {
    putLock('node_modules/.package-lock.json', { 'node_modules/a': a });
    put('package.json', JSON.stringify({ dependencies: { a: '1.0.0', d: '1.0.0' } }));
    expect(runSetup()).toEqual(install);
  });
});

describe('setup --build builds', () => {
  beforeEach(() => {
    putLock('node_modules/.package-lock.json', { 'node_modules/a': a });
    put('src/cli/main.ts', '');
    for (const path of ['src', 'src/cli', 'scripts', 'scripts/setup.mjs'])
      utimesSync(join(folder, path), EARLIER, EARLIER);
  });

  test('when there is no dist, and not without --build', () => {
    expect(runSetup()).toEqual([]);
    expect(runSetup('--build')).toEqual(['build']);
  });

  test('nothing when dist is newer than every source', () => {
    put('dist/meta.json', '{}', LATER);
    expect(runSetup('--build')).toEqual([]);
  });

  test('when a source was changed or removed after the build', () => {
    put('dist/meta.json', '{}', new Date((EARLIER.getTime() + LATER.getTime()) / 2));
    put('src/cli/main.ts', '', LATER);
    expect(runSetup('--build')).toEqual(['build']);
    rmSync(join(folder, 'src/cli/main.ts'));
    utimesSync(join(folder, 'src/cli'), LATER, LATER);
    expect(runSetup('--build')).toEqual(['build', 'build']);
  });
});
