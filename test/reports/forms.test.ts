import { join } from 'node:path';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, test } from 'vitest';
import { collect, type Collection } from '../../src/reports/collect.ts';
import { junitReport } from '../../src/reports/junit.ts';
import { markdownReport } from '../../src/reports/markdown-report.ts';
import { tempFolder } from '../helpers/temp.ts';
import { HOSTILE, hostileRun } from './hostile.ts';
import { junitProblems } from './junit-check.ts';
import { resultFile, writeRun } from './run-folders.ts';

const gate = resultFile({ run_id: 'g', status: 'failure', exit_reason: 'gate_failed', exit_code: 9, message: 'no' });
const limit = resultFile({ run_id: 'l', status: 'failure', exit_reason: 'timeout', exit_code: 4, message: 'late' });
const skipped = resultFile({ run_id: 's', exit_reason: 'skipped', message: 'the diff is empty', output: null });

async function several(): Promise<Collection> {
  const root = tempFolder();
  const folders = [resultFile(), gate, limit, skipped].map((result, at) => writeRun(join(root, `${at}`), { result }));
  const killed = writeRun(join(root, 'killed'), { result: null, run_id: 'k' });
  return collect([...folders, killed, join(root, 'nowhere')], false);
}

async function hostile(): Promise<Collection> {
  return collect([hostileRun(join(tempFolder(), 'r'))], false);
}

interface Parsed {
  testsuites: { '@_tests': string; '@_failures': string; '@_errors': string; testsuite: Suite[] };
}
interface Suite {
  '@_name': string;
  testcase: Record<string, unknown>[];
}

function parse(xml: string): Parsed {
  expect(XMLValidator.validate(xml)).toBe(true);
  const isArray = (name: string): boolean => name === 'testsuite' || name === 'testcase' || name === 'property';
  return new XMLParser({ ignoreAttributes: false, processEntities: true, htmlEntities: true, isArray }).parse(
    xml,
  ) as Parsed;
}

describe('junit', () => {
  test('has a suite for each run, a case for the run and one for each finding', async () => {
    const xml = junitReport(await several());
    expect(junitProblems(xml)).toEqual([]);
    const { testsuites } = parse(xml);
    expect(testsuites.testsuite).toHaveLength(6);
    const [first] = testsuites.testsuite;
    expect(first?.testcase.map((item) => item['@_name'])).toEqual([
      'run',
      'no-eval at src/a.ts:3-5',
      'long at src/b c.ts:9',
      'the change has no test',
    ]);
  });

  test('counts verdicts and findings as failures, other endings, killed runs and what is missing as errors', async () => {
    const { testsuites } = parse(junitReport(await several()));
    const kinds = testsuites.testsuite.map(({ testcase }) => {
      const kind = ['failure', 'error', 'skipped'].find((name) => testcase[0]?.[name] !== undefined);
      return kind ?? 'passed';
    });
    expect(kinds).toEqual(['passed', 'failure', 'error', 'skipped', 'error', 'error']);
    // Two findings of three runs whose output is the same, and the gate.
    expect(testsuites).toMatchObject({ '@_failures': '7', '@_errors': '3' });
  });

  test('holds no markup of others, no character XML refuses, and no command of a CI system', async () => {
    const xml = junitReport(await hostile());
    expect(junitProblems(xml)).toEqual([]);
    parse(xml);
    expect(xml).not.toMatch(/<(script|img|svg|b)\b/i);
    expect(xml).not.toMatch(/[^\t\n -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u);
    expect(xml).not.toMatch(/[\u202a-\u202e\u2066-\u2069]|::|##/);
    expect(xml.length).toBeLessThan(4_000_000);
  });
});

describe('markdown', () => {
  test('says verdict, findings, denied calls and what is missing', async () => {
    const page = markdownReport(await several());
    expect(page).toMatch(/^# 4 runs: 2 success, 2 failure; worst exit code 1; \$0\.0800/);
    expect(page).toContain('## pr\\-review: failure (`timeout`, exit code 4)');
    expect(page).toContain('| error | src/a.ts:3\\-5 | no\\-eval | eval runs text |');
    expect(page).toContain('## pr\\-review: unfinished');
    expect(page).toContain('### Not reported');
  });

  test('holds no markup, link or mention of others', async () => {
    const page = markdownReport(await hostile());
    expect(page).not.toMatch(/<(script|img|svg|b)\b/i);
    expect(page).not.toMatch(/\]\(javascript:|(^|[^\\])!\[/);
    expect(page).not.toMatch(/\p{Cf}|(?!\n)\p{Cc}/u);
    for (const text of HOSTILE.filter((item) => item.startsWith('<'))) expect(page).not.toContain(text);
  });
});
