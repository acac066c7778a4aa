import { globSync } from 'tinyglobby';
import { SLOW } from './suites.ts';
import type { Reporter, SerializedError, TestCase, TestModule, TestRunEndReason, Vitest } from 'vitest/node';

/** What a run of the tests came to; `leftOut` counts skipped tests by the reason they give. */
interface Totals {
  passed: number;
  failed: number;
  skipped: number;
  leftOut: Map<string, number>;
}

/** For each variable that can be set to 1, the word in the reason of a test left out that it turns into a failure. */
const REQUIRED = { AGENT_RUN_REQUIRE_BWRAP: 'bubblewrap', AGENT_RUN_REQUIRE_CHROMIUM: 'Chromium' };

/**
 * Vitest reporter whose last words are "N passed, N failed, N skipped", the line CI reads, after one line for each part
 * left out. Whatever makes the run fail counts as a failure: a file that does not load, a hook, an unhandled error,
 * a run without tests, and a test left out for want of what a variable set to 1 requires.
 */
export default class ClosingLine implements Reporter {
  private totals: Totals = { passed: 0, failed: 0, skipped: 0, leftOut: new Map() };

  onInit({ config: { root, exclude } }: Vitest): void {
    // vitest.config.ts leaves them out of a common run.
    const without = SLOW.filter((pattern) => exclude.includes(pattern));
    const slow = without.length > 0 ? globSync(without, { cwd: root }).length : 0;
    // The exit event is the only place that comes after every other reporter and vitest's own summary.
    process.once('exit', (code) => {
      const { lines, failed } = close(this.totals, code);
      if (slow > 0)
        lines.unshift(`left out: ${slow} slow ${slow === 1 ? 'file' : 'files'} (npm run check -- --all runs all)`);
      if (failed > 0 && code === 0) process.exitCode = 1;
      process.stdout.write(`${lines.join('\n')}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[], reason: TestRunEndReason): void {
    this.totals = countModules(modules);
    this.totals.failed += errors.length + (reason === 'interrupted' ? 1 : 0);
  }
}

function countModules(modules: readonly TestModule[]): Totals {
  const totals: Totals = { passed: 0, failed: 0, skipped: 0, leftOut: new Map() };
  for (const module of modules) {
    totals.failed += module.errors().length;
    for (const suite of module.children.allSuites()) totals.failed += suite.errors().length;
    for (const test of module.children.allTests()) countTest(test, totals);
  }
  return totals;
}

function countTest(test: TestCase, totals: Totals): void {
  const { state } = test.result();
  if (state === 'passed' || state === 'skipped') totals[state] += 1;
  else totals.failed += 1; // pending: the worker died before it could say
  if (state !== 'skipped') return;
  const reason = reasonOf(test);
  totals.leftOut.set(reason, (totals.leftOut.get(reason) ?? 0) + 1);
}

/** The note given to `skip(note)`, or the "needs ..." in the title of the test or of a suite around it. */
function reasonOf(test: TestCase): string {
  const result = test.result();
  if (result.state === 'skipped' && result.note) return result.note;
  return /needs [^>]+/.exec(test.fullName)?.[0].trim() ?? `${test.module.relativeModuleId}, no reason given`;
}

/** The lines to print, and how many failures the last one shows; `code` is what the process would exit with. */
function close(totals: Totals, code: number): { lines: string[]; failed: number } {
  const parts = [...totals.leftOut];
  const lines = parts.map(([reason, count]) => `left out: ${reason} (${count} ${count === 1 ? 'test' : 'tests'})`);
  const faults: string[] = [];
  for (const [variable, need] of Object.entries(REQUIRED)) {
    if (process.env[variable] === '1' && parts.some(([reason]) => reason.includes(need)))
      faults.push(`failed: tests were left out that need ${need}, and ${variable}=1 requires it`);
  }
  if (totals.passed + totals.failed === 0) faults.push('failed: no test was run');
  if (code !== 0 && totals.failed + faults.length === 0) faults.push(`failed: vitest ends with exit code ${code}`);
  const failed = totals.failed + faults.length;
  return {
    lines: [...lines, ...faults, `${totals.passed} passed, ${failed} failed, ${totals.skipped} skipped`],
    failed,
  };
}
