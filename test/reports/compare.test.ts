import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compareRuns, type EndedRun } from '../../src/reports/compare.ts';
import { compareText } from '../../src/reports/compare-text.ts';
import { readRun } from '../../src/reports/run-record.ts';
import { judgeThresholds, readThresholds } from '../../src/reports/thresholds.ts';
import { schemaErrors } from '../helpers/schemas.ts';
import { tempFolder } from '../helpers/temp.ts';
import { hostileRun } from './hostile.ts';
import { FINDINGS, resultFile, writeRun } from './run-folders.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { RunResult } from '../../src/reports/run-result.ts';

async function ended(result: RunResult): Promise<EndedRun> {
  return assertEnded(await readRun(writeRun(join(tempFolder(), 'r'), { result })));
}

function assertEnded(record: Awaited<ReturnType<typeof readRun>>): EndedRun {
  const { result } = record;
  if (result === null) throw new Error(record.problems.join('; '));
  return { ...record, result };
}

const [EVAL = {}, LONG = {}] = FINDINGS as JsonObject[];

const other = resultFile({
  run_id: 'b',
  turns: 6,
  output: { findings: [EVAL, { ...LONG, line: 99, message: 'in other words' }, { ...EVAL, rule: 'no-with' }] },
  usage: {
    cost_usd: 0.03,
    total_input_tokens: 6000,
    tools: { grep: { calls: 1, denied: 1, failed: 0, timed_out: 0, duration_ms: 1, bytes: 1 } },
  },
});

async function pair(b: RunResult = other, a: RunResult = resultFile()) {
  return compareRuns(await ended(a), await ended(b));
}

async function verdictsOf(given: Record<string, string>, b = other, a = resultFile()) {
  return judgeThresholds(await pair(b, a), readThresholds(given));
}

describe('comparing two runs', () => {
  test('finds what is new and what is gone, whatever line and words a finding has now', async () => {
    const { findings } = await pair();
    expect(findings.new.map(({ title }) => title)).toEqual(['no-with']);
    expect(findings.gone.map(({ message }) => message)).toEqual(['the change has no test']);
    expect(findings.same).toBe(2);
  });

  test('shows both sides and the change', async () => {
    const text = compareText(await pair(), []);
    expect(text).toMatch(/^verdict +success \(completed, 0\) +success \(completed, 0\)$/m);
    expect(text).toMatch(/^cost +\$0\.0200 +\$0\.0300 +\+\$0\.0100 \(\+50%\)$/m);
    expect(text).toMatch(/^turns +3 +6 +\+3 \(\+100%\)$/m);
    expect(text).toMatch(/^grep +0 +1, 1 denied +\+1$/m);
    expect(text).toContain('  + error src/a.ts:3-5: no-with: eval runs text');
  });

  test('has the form of its schema', async () => {
    const thresholds = await verdictsOf({ 'max-cost-increase': '10%' });
    expect(schemaErrors('diff', { ...(await pair()), thresholds, ok: false })).toEqual([]);
  });

  test('shows hostile texts as text of one line', async () => {
    const hostile = assertEnded(await readRun(hostileRun(join(tempFolder(), 'r'))));
    const text = compareText(compareRuns(await ended(resultFile()), hostile), []);
    expect(text).not.toMatch(/[\p{Cf}]|(?!\n)\p{Cc}/u);
    expect(text.length).toBeLessThan(50_000);
  });
});

describe('a threshold', () => {
  test.each([
    ['max-cost-increase', '50%', true],
    ['max-cost-increase', '49.9%', false],
    ['max-cost-increase', '0.01', true],
    ['max-cost-increase', '0.009', false],
    ['max-turns-increase', '3', true],
    ['max-turns-increase', '2', false],
    ['max-tokens-increase', '88.3%', true],
    ['max-tokens-increase', '2999', false],
    ['max-tool-calls-increase', '0', true],
    ['max-duration-increase', '1s', true],
    ['max-new-findings', '1', true],
    ['max-new-findings', '0', false],
    ['max-new-denials', '0', true],
  ])('--%s %s is kept: %s', async (name, limit, ok) => {
    const verdicts = await verdictsOf({ [name]: limit });
    expect(verdicts.find((verdict) => verdict.name === name)).toMatchObject({ limit, ok });
  });

  test('is not kept when a cost is unknown, and says so', async () => {
    const free = { ...other, usage: { ...other.usage, cost_usd: null } };
    const [, verdict] = await verdictsOf({ 'max-cost-increase': '50%' }, free);
    expect(verdict).toMatchObject({
      ok: false,
      message: 'the cost of run B is unknown, so it cannot be said to be within 50%',
    });
  });

  test('of a share of nothing allows nothing', async () => {
    const none = { ...resultFile(), usage: { ...other.usage, cost_usd: 0 } };
    const [, verdict] = await verdictsOf({ 'max-cost-increase': '500%' }, other, none);
    expect(verdict?.ok).toBe(false);
  });

  test('is no excuse for a run that ended worse, however little it used', async () => {
    const early = { ...other, status: 'failure' as const, exit_reason: 'max_turns' as const, exit_code: 4, turns: 1 };
    const [verdict] = await verdictsOf({ 'max-turns-increase': '0' }, early);
    expect(verdict).toMatchObject({ name: 'verdict', ok: false });
    expect(verdict?.message).toBe('B ended worse: A ended with completed (0), B with max_turns (4)');
    const [better] = await verdictsOf({ 'max-turns-increase': '100%' }, resultFile(), early);
    expect(better?.ok).toBe(true);
  });

  test.each([
    ['max-cost-increase', 'a lot', 'found "a lot", expected a share or an amount, for example 50% or 3'],
    ['max-cost-increase', '-5%', 'found "-5%"'],
    ['max-turns-increase', '1e999', 'found "1e999"'],
    ['max-new-findings', '50%', 'expected a whole number'],
  ])('--%s %s is refused', (name, text, message) => {
    expect(() => readThresholds({ [name]: text })).toThrow(message);
  });
});
