// A list of findings that is not where the task says: nowhere does it look like one without findings.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { collect, type Collection } from '../../src/reports/collect.ts';
import { compareRuns } from '../../src/reports/compare.ts';
import { compareText } from '../../src/reports/compare-text.ts';
import { jsonReport } from '../../src/reports/json-report.ts';
import { junitReport } from '../../src/reports/junit.ts';
import { markdownReport } from '../../src/reports/markdown-report.ts';
import { readRun } from '../../src/reports/run-record.ts';
import { sarifReport } from '../../src/reports/sarif.ts';
import { judgeThresholds, readThresholds } from '../../src/reports/thresholds.ts';
import { schemaErrors } from '../helpers/schemas.ts';
import { tempFolder } from '../helpers/temp.ts';
import { junitProblems } from './junit-check.ts';
import { resultFile, runStart, RUN_END, writeRun } from './run-folders.ts';
import type { RunResult } from '../../src/reports/run-result.ts';

const LOST = resultFile({ run_id: 'lost', output: { findings: { first: 'a' } } });
const SAID = 'findings.items: "/findings" names an object in the output, not a list';

const of = (result: RunResult): Promise<Collection> => collect([writeRun(join(tempFolder(), 'r'), { result })], false);

async function comparison(before: RunResult, after: RunResult) {
  const folders = [before, after].map((result) => writeRun(join(tempFolder(), 'r'), { result }));
  const [a, b] = [await readRun(folders[0] ?? ''), await readRun(folders[1] ?? '')];
  return compareRuns({ ...a, result: before }, { ...b, result: after });
}

test('SARIF has no results then, and none of a run without a map or a transcript that says where', async () => {
  const texts = [await of(LOST), await of(resultFile({ exit_reason: 'skipped', output: null }))];
  const [bare, cut] = [join(tempFolder(), 'r'), join(tempFolder(), 'r')];
  const { findings: _map, ...task } = runStart().task;
  texts.push(await collect([writeRun(bare, { events: [{ ...runStart(), task }, RUN_END] })], false));
  texts.push(await collect([writeRun(cut, { events: 'torn' })], false));
  for (const text of texts) expect(JSON.stringify(sarifReport(text))).not.toContain('"results"');
  expect(JSON.stringify(sarifReport(await of(LOST)))).toContain('names an object in the output');
});

test('JUnit has an error, Markdown and JSON a warning', async () => {
  const collection = await of(LOST);
  const xml = junitReport(collection);
  expect(junitProblems(xml)).toEqual([]);
  expect(xml).toMatch(/tests="2" failures="0" errors="1"/);
  expect(xml).toContain('type="lost_findings"');
  const page = markdownReport(collection);
  expect(page).toContain('### Warnings');
  expect(page).not.toContain('No findings');
  const json = jsonReport(collection);
  expect(json).toMatchObject({ runs: [{ warnings: [expect.stringContaining(SAID)], findings: [] }] });
  expect(schemaErrors('report', json)).toEqual([]);
  const [record] = collection.runs;
  expect(record).toMatchObject({ has_findings: false, lost_findings: expect.stringContaining(SAID) });
});

test('what the run itself warned of is said once', async () => {
  const once = `${SAID}, so how many findings there are is not known`;
  const json = jsonReport(await of({ ...LOST, warnings: [once] }));
  expect(json).toMatchObject({ runs: [{ warnings: [once] }] });
});

test.each([
  ['B', resultFile(), LOST, 'run B'],
  ['A', LOST, resultFile(), 'run A'],
  ['both', LOST, LOST, 'both runs'],
])('a comparison with a list lost in %s satisfies no threshold of findings', async (_which, a, b, whose) => {
  const compared = await comparison(a, b);
  expect(compared.findings).toEqual({ new: [], gone: [], same: 0, comparable: false });
  const verdicts = judgeThresholds(compared, readThresholds({ 'max-new-findings': '0' }));
  expect(verdicts[1]).toMatchObject({
    ok: false,
    message: `the list of findings of ${whose} is unknown, so it cannot be said to be within 0`,
  });
  expect(compareText(compared, verdicts)).toMatch(/^findings .*unknown$/m);
  expect(schemaErrors('diff', { ...compared, thresholds: verdicts, ok: false })).toEqual([]);
});

test('JUnit says when a run concluded early', async () => {
  const limit_reached = { reason: 'max_turns', limit: 3, used: 3 } as const;
  const xml = junitReport(await of(resultFile({ limit_reached })));
  expect(junitProblems(xml)).toEqual([]);
  expect(xml).toContain('<property name="limit_reached" value="max_turns: 3 of 3"/>');
  expect(xml).toContain('<skipped message="the run concluded early: max_turns (3 of 3)"/>');
});
