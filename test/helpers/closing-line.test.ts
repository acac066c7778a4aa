import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SLOW } from './suites.ts';

const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const REPORTER = fileURLToPath(new URL('closing-line.ts', import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'closing-line-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a test file in a vitest of its own; answers with the exit code and the lines the reporter adds. */
function runVitest(file: string, env: Record<string, string> = {}): { code: number | null; lines: string[] } {
  writeFileSync(join(folder, 'a.test.js'), file);
  const args = ['run', '--root', folder, '--globals', '--reporter=default', `--reporter=${REPORTER}`];
  const { status, stdout } = spawnSync(process.execPath, [VITEST, ...args], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', AGENT_RUN_REQUIRE_BWRAP: '', AGENT_RUN_REQUIRE_CHROMIUM: '', ...env },
  });
  const lines = stdout.split('\n').filter((line) => /^(left out|failed): |^\d+ passed/.test(line));
  expect(stdout.endsWith(`\n${lines.at(-1)}\n`), stdout).toBe(true);
  return { code: status, lines };
}

test('counts what passed, failed and was left out, and names the reasons', () => {
  const file = `
    test('is fine', () => {});
    test('is not', () => { throw new Error('no'); });
    describe.skipIf(true)('sandbox, needs bubblewrap', () => { test('one', () => {}); test('two', () => {}); });
    test('by note', ({ skip }) => skip('needs a network'));
    test.skip('by nobody', () => {});`;
  expect(runVitest(file)).toEqual({
    code: 1,
    lines: [
      'left out: needs bubblewrap (2 tests)',
      'left out: needs a network (1 test)',
      'left out: a.test.js, no reason given (1 test)',
      '1 passed, 1 failed, 4 skipped',
    ],
  });
});

test('ends a run in which all is well with exit code 0', () => {
  expect(runVitest(`test('is fine', () => {});`)).toEqual({ code: 0, lines: ['1 passed, 0 failed, 0 skipped'] });
});

test('counts a file that does not load, and says that no test was run', () => {
  expect(runVitest(`import './missing.js';`)).toEqual({ code: 1, lines: ['0 passed, 1 failed, 0 skipped'] });
  expect(runVitest(`test.skip('all', () => {});`)).toEqual({
    code: 1,
    lines: [
      'left out: a.test.js, no reason given (1 test)',
      'failed: no test was run',
      '0 passed, 1 failed, 1 skipped',
    ],
  });
});

test('counts unhandled errors and failing hooks although every test passed', () => {
  const file = `
    test('is fine', () => { Promise.reject(new Error('nobody waits')); });
    describe('with a hook', () => { afterAll(() => { throw new Error('hook'); }); test('passes', () => {}); });`;
  expect(runVitest(file)).toEqual({ code: 1, lines: ['2 passed, 2 failed, 0 skipped'] });
});

test.each([
  ['bubblewrap', 'AGENT_RUN_REQUIRE_BWRAP'],
  ['Chromium', 'AGENT_RUN_REQUIRE_CHROMIUM'],
])('fails where %s is required and its tests were left out', (need, variable) => {
  const file = `test('is fine', () => {}); test.skipIf(true)('hides the home (needs ${need})', () => {});`;
  expect(runVitest(file).code).toBe(0);
  const { code, lines } = runVitest(file, { [variable]: '1' });
  expect(code).toBe(1);
  expect(lines.at(-1)).toBe('1 passed, 1 failed, 1 skipped');
});

test('names how many files of slow suites a common run leaves out', () => {
  mkdirSync(join(folder, 'test/crash'), { recursive: true });
  writeFileSync(join(folder, 'test/crash/b.test.ts'), `test('never runs here', () => { throw new Error('no'); });`);
  writeFileSync(join(folder, 'vitest.config.js'), `export default { test: { exclude: ${JSON.stringify(SLOW)} } };`);
  expect(runVitest(`test('is fine', () => {});`).lines).toEqual([
    'left out: 1 slow file (npm run check -- --all runs all)',
    '1 passed, 0 failed, 0 skipped',
  ]);
});
