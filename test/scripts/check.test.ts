import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url));
const TOOLS = {
  setup: 'scripts/setup.mjs',
  format: 'node_modules/oxfmt/bin/oxfmt',
  lint: 'node_modules/oxlint/bin/oxlint',
  types: 'node_modules/typescript/bin/tsc',
  build: 'build.mjs',
  tests: 'node_modules/vitest/vitest.mjs',
};

// As nobody set it: the check that runs these tests may run all suites.
const ENV = { ...process.env, AGENT_RUN_SUITES: '' };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'check-'));
  put('scripts/setup.mjs', '');
  for (const name of ['check.mjs', 'check-memory.mjs'])
    copyFileSync(join(SCRIPTS, name), join(folder, 'scripts', name));
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
  const { status, stdout } = spawnSync(process.execPath, ['scripts/check.mjs'], {
    cwd: folder,
    encoding: 'utf8',
    env: ENV,
  });
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

describe('a tree that passed once', () => {
  function git(...args: string[]): void {
    expect(spawnSync('git', args, { cwd: folder, encoding: 'utf8' })).toMatchObject({ status: 0 });
  }

  /** A clone whose tests say how often they ran. */
  function clone(): (...args: string[]) => { ran: number; lines: string[]; code: number | null } {
    git('init', '--quiet');
    put('.gitignore', 'node_modules/\nran\n');
    put('src/a.ts', 'one');
    const tests = `require('node:fs').appendFileSync('ran', 'x'); console.log('left out: b (1 test)\\n3 passed, 0 failed, 1 skipped')`;
    for (const [name, path] of Object.entries(TOOLS)) put(path, name === 'tests' ? tests : '');
    renameSync(join(folder, TOOLS.tests), join(folder, `${TOOLS.tests}.cjs`));
    put(TOOLS.tests, `import './vitest.mjs.cjs';`);
    return (...args) => {
      const { status, stdout } = spawnSync(process.execPath, ['scripts/check.mjs', ...args], {
        cwd: folder,
        encoding: 'utf8',
        env: ENV,
      });
      return {
        ran: readFileSync(join(folder, 'ran'), 'utf8').length,
        lines: stdout.trimEnd().split('\n'),
        code: status,
      };
    };
  }

  test('is not checked again, says so, and ends with the same lines', () => {
    const check = clone();
    expect(check().ran).toBe(1);
    const second = check();
    expect(second).toMatchObject({ ran: 1, code: 0 });
    expect(second.lines[0]).toMatch(/^== nothing changed since \d{4}-.*, when all of this passed; nothing ran now$/);
    expect(second.lines.slice(-2)).toEqual(['left out: b (1 test)', '3 passed, 0 failed, 1 skipped']);
  });

  test.each<[string, () => void]>([
    ['a source changes', () => put('src/a.ts', 'two')],
    ['a file is added that git does not know yet', () => put('src/b.ts', '')],
    ['a file goes', () => rmSync(join(folder, 'src/a.ts'))],
  ])('is checked again when %s', (_what, change) => {
    const check = clone();
    check();
    change();
    expect(check().ran).toBe(2);
  });

  test('is checked again with --again, and with --all when only the common suites ran', () => {
    const check = clone();
    check();
    expect(check('--again').ran).toBe(2);
    expect(check('--all').ran).toBe(3);
    expect(check('--all').ran).toBe(3);
  });

  test('is checked again after a failure', () => {
    const check = clone();
    put('node_modules/typescript/bin/tsc', 'process.exit(1)');
    spawnSync(process.execPath, ['scripts/check.mjs'], { cwd: folder, env: ENV });
    put('node_modules/typescript/bin/tsc', '');
    expect(check().ran).toBe(1);
  });
});
