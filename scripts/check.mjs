// What CI checks, cheapest first; the first failure ends it. The last line of stdout is always "N passed, N failed"
// (", N skipped" may follow), also when a step before the tests fails or the tests die silently. `--all` runs the slow
// suites too; a tree that passed already is not checked again, and says so, but for `--again`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { fingerprint, keep, recall } from './check-memory.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CLOSING_LINE = /^\d+ passed, (\d+) failed(?:, \d+ skipped)?$/;
const STEPS = {
  setup: ['scripts/setup.mjs'],
  format: ['node_modules/oxfmt/bin/oxfmt', '--check', '.'],
  lint: ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'],
  types: ['node_modules/typescript/bin/tsc', '-p', '.'],
  'types of the page': ['node_modules/typescript/bin/tsc', '-p', 'src/reports/page'],
  build: ['build.mjs'],
};

const suites = process.argv.includes('--all') ? 'all' : process.env.AGENT_RUN_SUITES || 'common';
const before = fingerprint(ROOT, process.env, suites);
const passed = process.argv.includes('--again') ? undefined : recall(ROOT, before);
if (passed) {
  console.log(`== nothing changed since ${passed.time}, when all of this passed; nothing ran now`);
  console.log('== npm run check -- --again runs it');
  console.log(passed.lines.join('\n'));
  process.exit(0);
}
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
const { code, lines } = await runTests();
const closing = lines.at(-1) ?? '';
const failed = CLOSING_LINE.exec(closing)?.[1];
const agrees = failed !== undefined && (failed === '0') === (code === 0);
if (!agrees) console.log(`== tests ended with exit ${code} and no closing line that says so\n0 passed, 1 failed`);
process.exitCode = agrees ? code : 1;
// A file that was edited in the meantime was not what passed.
const after = fingerprint(ROOT, process.env, suites);
if (process.exitCode === 0 && after === before) keep(ROOT, before, lines);

/** Runs vitest with its output passed through; answers with its exit code and its last lines: what was left out, and the sums. */
async function runTests() {
  const colour = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...colour, AGENT_RUN_SUITES: suites },
  });
  let tail = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    process.stdout.write(text);
    tail = (tail + text).slice(-4000);
  });
  const [exit] = await once(child, 'close');
  const last = tail.trimEnd().split('\n');
  const first = last.findLastIndex((line, at) => at < last.length - 1 && !line.startsWith('left out: '));
  return { code: exit ?? 1, lines: last.slice(first + 1) };
}
