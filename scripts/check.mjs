// Everything CI checks, cheapest first; the first failure ends it. The last line of stdout is always
// "N passed, N failed" (", N skipped" may follow), also when a step before the tests fails or the tests die silently.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CLOSING_LINE = /^\d+ passed, (\d+) failed(?:, \d+ skipped)?$/;
const STEPS = {
  setup: ['scripts/setup.mjs'],
  format: ['node_modules/oxfmt/bin/oxfmt', '--check', '.'],
  lint: ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'],
  types: ['node_modules/typescript/bin/tsc', '-p', '.'],
  build: ['build.mjs'],
};

for (const [name, args] of Object.entries(STEPS)) {
  console.log(`== ${name}`);
  const startedAt = performance.now();
  const { status, signal } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) {
    console.log(`== ${name} failed (${signal ?? `exit ${status}`})\n0 passed, 1 failed`);
    process.exit(status ?? 1);
  }
  console.log(`== ${name} ok, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}
console.log('== tests');
const { code, closing } = await runTests();
const failed = CLOSING_LINE.exec(closing)?.[1];
const agrees = failed !== undefined && (failed === '0') === (code === 0);
if (!agrees) console.log(`== tests ended with exit ${code} and no closing line that says so\n0 passed, 1 failed`);
process.exitCode = agrees ? code : 1;

/** Runs vitest with its output passed through; answers with its exit code and its last line. */
async function runTests() {
  const colour = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...colour },
  });
  let tail = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    process.stdout.write(text);
    tail = (tail + text).slice(-1000);
  });
  const [exit] = await once(child, 'close');
  return { code: exit ?? 1, closing: tail.trimEnd().split('\n').at(-1) ?? '' };
}
