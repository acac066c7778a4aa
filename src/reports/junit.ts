import { headOf } from '../core/graphemes.ts';
import type { Finding } from '../core/findings.ts';
import { placeOf, totalsOf } from './totals.ts';
import { element, xmlText } from './xml.ts';
import type { Collection } from './collect.ts';
import type { RunRecord } from './run-record.ts';
import type { RunResult } from './run-result.ts';

/** One case of a suite, with what counts against it. */
interface Case {
  xml: string;
  kind: 'passed' | 'failure' | 'error' | 'skipped';
}

interface Suite {
  name: string;
  cases: Case[];
  seconds: number;
  timestamp?: string;
  properties: Record<string, string>;
}

/**
 * JUnit XML: a suite for each run with a case for the run itself and one for each finding. A verdict of verify or gate
 * and a finding of level error or warning are failures, every other ending but success is an error.
 */
export function junitReport(collection: Collection): string {
  const suites = [...collection.runs.map(runSuite), ...restSuites(collection)];
  const all = suites.flatMap(({ cases }) => cases);
  const seconds = secondsOf(totalsOf(collection).duration_ms);
  const root = element('testsuites', { name: 'agent-run', ...counts(all), time: seconds }, suites.map(suiteXml));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`;
}

/** Seconds to the millisecond: a number that needs an exponent is none to a reader of JUnit. */
function secondsOf(ms: number): number {
  return Number((ms / 1000).toFixed(3));
}

function counts(cases: readonly Case[]): Record<'tests' | 'failures' | 'errors' | 'skipped', number> {
  const of = (kind: Case['kind']): number => cases.filter((item) => item.kind === kind).length;
  return { tests: cases.length, failures: of('failure'), errors: of('error'), skipped: of('skipped') };
}

function suiteXml({ name, cases, seconds, timestamp, properties }: Suite): string {
  const values = Object.entries(properties).map(([key, value]) => element('property', { name: key, value }));
  const attributes = { name, ...counts(cases), time: seconds, timestamp: timestamp?.replace(/\.\d+Z$/, '') };
  return element('testsuite', attributes, [
    ...(values.length > 0 ? [element('properties', {}, values)] : []),
    ...cases.map(({ xml }) => xml),
  ]);
}

function runSuite(record: RunRecord): Suite {
  const { task, result, findings, lost_findings, problems, run_id } = record;
  if (result === null) {
    const failed = failing('error', { task, name: 'run', seconds: 0 }, ['unfinished', problems.join('\n')]);
    return { name: task, cases: [failed], seconds: 0, properties: { run_id, run_dir: record.run_dir } };
  }
  const seconds = secondsOf(result.duration_ms);
  return {
    name: task,
    cases: [
      runCase(result, seconds),
      ...earlyCase(result),
      ...(lost_findings === null ? [] : [lostCase(task, lost_findings)]),
      ...findings.map((finding) => findingCase(task, finding)),
    ],
    seconds,
    timestamp: result.started_at,
    properties: propertiesOf(record, result),
  };
}

function propertiesOf({ run_dir }: RunRecord, result: RunResult): Record<string, string> {
  const { usage, limit_reached: limit } = result;
  return {
    run_id: result.run_id,
    run_dir,
    exit_reason: result.exit_reason,
    exit_code: String(result.exit_code),
    ...(limit ? { limit_reached: `${limit.reason}: ${limit.used} of ${limit.limit}` } : {}),
    model: `${result.provider}/${result.model}`,
    turns: String(result.turns),
    total_input_tokens: String(usage.total_input_tokens),
    total_output_tokens: String(usage.total_output_tokens),
    cost_usd: usage.cost_usd === null ? 'unknown' : String(usage.cost_usd),
  };
}

function runCase(result: RunResult, seconds: number): Case {
  const { exit_reason: reason, exit_code: code, message } = result;
  const place = { task: result.task.name, name: 'run', seconds };
  if (reason === 'skipped') return { kind: 'skipped', xml: caseXml(place, [element('skipped', { message })]) };
  if (code === 0) return { kind: 'passed', xml: caseXml(place, []) };
  const kind = reason === 'verify_failed' || reason === 'gate_failed' ? 'failure' : 'error';
  return failing(kind, place, [reason, `${message} (exit code ${code})`]);
}

/** A conclusion that a limit forced is no failure of its own, and must not read as a whole run either. */
function earlyCase({ exit_code, limit_reached: limit, task }: RunResult): Case[] {
  if (exit_code !== 0 || limit === null) return [];
  const message = `the run concluded early: ${limit.reason} (${limit.used} of ${limit.limit})`;
  const place = { task: task.name, name: 'concluded early', seconds: 0 };
  return [{ kind: 'skipped', xml: caseXml(place, [element('skipped', { message })]) }];
}

function lostCase(task: string, problem: string): Case {
  return failing('error', { task, name: 'findings', seconds: 0 }, ['lost_findings', problem]);
}

function findingCase(task: string, finding: Finding): Case {
  const where = placeOf(finding);
  const message = finding.message ?? '';
  const title = finding.title ?? message.split('\n', 1)[0] ?? '';
  const name = [headOf(title, 200) || 'finding', where].filter((part) => part !== '').join(' at ');
  const place = { task, name, seconds: 0, file: finding.path, line: finding.line };
  if (finding.level !== 'notice') return failing('failure', place, [finding.level, message || title]);
  return { kind: 'skipped', xml: caseXml(place, [element('skipped', { message: message || title })]) };
}

interface Place {
  task: string;
  name: string;
  seconds: number;
  file?: string | null;
  line?: number | null;
}

function failing(kind: 'failure' | 'error', place: Place, [type, text]: [type: string, text: string]): Case {
  const message = text.split('\n', 1)[0] ?? '';
  return { kind, xml: caseXml(place, [element(kind, { message: headOf(message, 1000), type }, [xmlText(text)])]) };
}

function caseXml({ task, name, seconds, file, line }: Place, children: readonly string[]): string {
  return element('testcase', { classname: task, name, time: seconds, file, line }, children);
}

/** What has no run: tasks that never began, and what could not be read. */
function restSuites({ not_started, problems, runs }: Collection): Suite[] {
  const own = new Set(runs.flatMap((run) => (run.result === null ? run.problems : [])));
  const begun = not_started.map(({ task, message, reason }) => {
    const place = { task, name: 'run', seconds: 0 };
    return failing('error', place, ['not_started', `not started (${reason}): ${message}`]);
  });
  const read = problems
    .filter((problem) => !own.has(problem))
    .map((problem) =>
      failing('error', { task: 'agent-run report', name: problem.slice(0, 200), seconds: 0 }, ['unreadable', problem]),
    );
  return [
    ...(begun.length > 0 ? [{ name: 'not started', cases: begun, seconds: 0, properties: {} }] : []),
    ...(read.length > 0 ? [{ name: 'not reported', cases: read, seconds: 0, properties: {} }] : []),
  ];
}
