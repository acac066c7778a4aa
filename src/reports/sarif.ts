import { createHash } from 'node:crypto';
import type { Invocation, Log, Notification, ReportingDescriptor, Result, Run } from 'sarif';
import type { Finding } from '../core/findings.ts';
import type { JsonValue } from '../core/json.ts';
import { showControls } from '../core/sanitise.ts';
import { repositoryUri } from './repository-uri.ts';
import { warningsOf } from './totals.ts';
import type { Collection } from './collect.ts';
import type { RunRecord } from './run-record.ts';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';
const LEVELS = { error: 'error', warning: 'warning', notice: 'note' } as const;
const NO_RULE = 'finding';
const NO_PLACE = 'task';
/** Verify and gate judge an output that is valid: with a list in it, the search for findings took place. */
const GAVE_OUTPUT = new Set([0, 8, 9]);

/**
 * SARIF 2.1.0: one run for each task, since code scanning refuses two of one category. A task of whose
 * runs one gave no valid output, or none with a list of findings, has no `results` at all, which is how SARIF says that nothing was searched; an empty list would close alerts.
 */
export function sarifReport(collection: Collection): JsonValue {
  const tasks = [...new Set(collection.runs.map(({ task }) => task))];
  const runs = tasks.map((task) =>
    taskRun(
      task,
      collection.runs.filter((record) => record.task === task),
    ),
  );
  const rest = restRun(collection);
  const log: Log = { version: '2.1.0', $schema: SCHEMA, runs: rest ? [...runs, rest] : runs };
  return log as unknown as JsonValue; // made of nothing but JSON values
}

function taskRun(task: string, records: readonly RunRecord[]): Run {
  const searched = records.every(
    ({ result, has_findings }) => has_findings && result !== null && GAVE_OUTPUT.has(result.exit_code),
  );
  const found = records.flatMap((record) => record.findings.map((finding) => ({ finding, record })));
  const names = [...new Set(found.map(({ finding }) => ruleOf(finding)))];
  const results = found.map(({ finding, record }) => resultOf(finding, names.indexOf(ruleOf(finding)), record));
  return {
    tool: driver(versionOf(records), names),
    automationDetails: { id: `agent-run/${encodeURIComponent(task.toWellFormed())}/` },
    columnKind: 'utf16CodeUnits',
    originalUriBaseIds: { '%SRCROOT%': { description: { text: 'The workspace of the run.' } } },
    invocations: records.map(invocation),
    ...(searched ? { results } : {}),
  };
}

function driver(version: string | undefined, names: readonly string[]): Run['tool'] {
  // GitHub asks for all three texts; of a rule that a model named we know no more than its name.
  const rules = names.map((id): ReportingDescriptor => {
    const text = `${id}, found by an agent`;
    return { id, shortDescription: { text }, fullDescription: { text }, help: { text } };
  });
  return { driver: { name: 'agent-run', ...(version === undefined ? {} : { version }), rules } };
}

function versionOf(records: readonly RunRecord[]): string | undefined {
  return records.find(({ result }) => result !== null)?.result?.runner.version;
}

function ruleOf({ title }: Finding): string {
  return (
    shown(title ?? '')
      .trim()
      .slice(0, 200) || NO_RULE
  );
}

function resultOf(finding: Finding, ruleIndex: number, { workspace, result }: RunRecord): Result {
  const { path, line, end_line, level, message } = finding;
  const own = path === null ? null : repositoryUri(path, workspace);
  // A place outside the workspace is no place in the repository; the reader still learns what was named.
  const outside = path !== null && own === null ? ` (at ${shown(path)})` : '';
  const region = own === null || line === null ? {} : { region: { startLine: line, ...endOf(line, end_line) } };
  // Code scanning refuses a file in which a result has no place; the task that looked is the nearest there is.
  const uri = own ?? repositoryUri(result?.task.file ?? '', workspace) ?? NO_PLACE;
  const artifactLocation = { uri, uriBaseId: '%SRCROOT%' };
  return {
    ruleId: ruleOf(finding),
    ruleIndex,
    level: LEVELS[level],
    message: { text: `${shown(message ?? '') || ruleOf(finding)}${outside}` },
    locations: [{ physicalLocation: { artifactLocation, ...region } }],
    partialFingerprints: { 'agentRunFinding/v1': fingerprint(finding) },
  };
}

function endOf(line: number, end_line: number | null): { endLine?: number } {
  return end_line === null || end_line < line ? {} : { endLine: end_line };
}

/** The same finding on another line is the same finding. */
function fingerprint({ path, title, message }: Finding): string {
  return createHash('sha256')
    .update(JSON.stringify([path, title, message]))
    .digest('hex');
}

function invocation(record: RunRecord): Invocation {
  const { result, problems } = record;
  const warnings = warningsOf(record).map((text) => note(text, 'warning'));
  const notifications = [...problems.map((text) => note(text)), ...warnings];
  if (result === null) return { executionSuccessful: false, toolExecutionNotifications: notifications };
  const { exit_code, exit_reason, message, started_at, finished_at } = result;
  const ended = exit_code === 0 ? [] : [note(`${exit_reason}: ${message}`)];
  return {
    executionSuccessful: exit_code === 0,
    exitCode: exit_code,
    exitCodeDescription: exit_reason,
    startTimeUtc: started_at,
    endTimeUtc: finished_at,
    toolExecutionNotifications: [...ended, ...notifications],
  };
}

function note(text: string, level: 'error' | 'warning' = 'error'): Notification {
  return { level, message: { text: shown(text) } };
}

function restRun({ problems, runs, not_started }: Collection): Run | null {
  const own = new Set(runs.flatMap((run) => run.problems));
  const texts = [
    ...problems.filter((problem) => !own.has(problem)),
    ...not_started.map(({ task, reason, message }) => `${task} was not started (${reason}): ${message}`),
  ];
  if (texts.length === 0) return null;
  return {
    tool: driver(undefined, []),
    automationDetails: { id: 'agent-run-report/' },
    invocations: [{ executionSuccessful: false, toolExecutionNotifications: texts.map((text) => note(text)) }],
  };
}

function shown(text: string): string {
  return showControls(text.replaceAll(/\r\n?/g, '\n'));
}
