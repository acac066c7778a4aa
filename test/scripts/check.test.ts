import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const CHECK = fileURLToPath(new URL('../../scripts/check.mjs', import.meta.url));
const TOOLS = {
  setup: 'scripts/setup.mjs',
  format: 'node_modules/oxfmt/bin/oxfmt',
  lint: 'node_modules/oxlint/bin/oxlint',
  types: 'node_modules/typescript/bin/tsc',
  build: 'build.mjs',
  tests: 'node_modules/vitest/vitest.mjs',
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'check-'));
  put('scripts/setup.mjs', '');
  copyFileSync(CHECK, join(folder, 'scripts/check.mjs'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Runs the check with stand-ins for its tools: each does what its text says, by default nothing. */
function runCheck(behaviour: Partial<Record<keyof typeof TOOLS, string>>): { code: number | null; lines: string[] } {
  const texts = { tests: `console.log('3 passed, 0 failed, 0 skipped')`, ...behaviour };
  for (const [name, path] of Object.entries(TOOLS)) put(path, texts[name as keyof typeof TOOLS] ?? ''); // keys of TOOLS
  const { status, stdout } = spawnSync(process.execPath, ['scripts/check.mjs'], { cwd: folder, encoding: 'utf8' });
  return { code: status, lines: stdout.trimEnd().split('\n') };
}

test('a check in which all is well ends with the line of the tests', () => {
  const { code, lines } = runCheck({});
  expect(code).toBe(0);
  expect(lines.at(-1)).toBe('3 passed, 0 failed, 0 skipped');
  expect(lines.filter((line) => /^== \w+$/.test(line))).toEqual(Object.keys(TOOLS).map((name) => `== ${name}`));
});

test('a failing step ends the check at once with a line that shows a failure', () => {
  const { code, lines } = runCheck({ lint: 'process.exit(3)' });
  expect(code).toBe(3);
  expect(lines.slice(-2)).toEqual(['== lint failed (exit 3)', '0 passed, 1 failed']);
  expect(lines).not.toContain('== types');
});

test.each([
  ['die without a closing line', `console.log('starting')`],
  ['are killed', `console.log('3 passed, 0 failed'); process.kill(process.pid, 'SIGKILL')`],
  ['exit with 1 after a clean closing line', `console.log('3 passed, 0 failed'); process.exitCode = 1`],
])('tests that %s count as one failure', (_what, tests) => {
  const { code, lines } = runCheck({ tests });
  expect(code).toBe(1);
  expect(lines.at(-1)).toBe('0 passed, 1 failed');
});

test('a closing line with failures stays the last one, with its exit code', () => {
  const { code, lines } = runCheck({ tests: `console.log('2 passed, 1 failed, 4 skipped'); process.exitCode = 1` });
  expect(code).toBe(1);
  expect(lines.at(-1)).toBe('2 passed, 1 failed, 4 skipped');
});
