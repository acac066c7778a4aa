// One run as the page shows it above its timeline.

import { showCount, showMany, showSpan, showUsd } from '../core/figures.ts';
import { showControls } from '../core/sanitise.ts';
import { bodyText, lineText } from './shown-text.ts';
import { placeOf, warningsOf } from './totals.ts';
import type { Chunks } from './chunks.ts';
import type { PageFinding, PageLimit, PageRun } from './page-data.ts';
import type { RunRecord } from './run-record.ts';
import type { RunResult } from './run-result.ts';
import type { Timeline } from './timeline.ts';
import { numberField } from './fields.ts';

const MAX_LISTED = 1000;

/** The run of a record whose transcript was read to its end. */
export function pageRun(record: RunRecord, timeline: Timeline, chunks: Chunks): PageRun {
  const { result } = record;
  const { carried, left_out } = timeline.carried.rows();
  return {
    task: lineText(record.task, 200),
    run_dir: lineText(record.run_dir, 400),
    status: result?.status ?? 'unfinished',
    exit_reason: result?.exit_reason ?? 'no result',
    exit_code: result?.exit_code ?? null,
    message:
      result === null || result.message === result.exit_reason ? '' : showControls(result.message.slice(0, 4000)),
    figures: result ? figuresOf(result) : [],
    facts: factsOf(record),
    limits: result ? limitsOf(result) : [],
    findings: record.has_findings ? record.findings.slice(0, MAX_LISTED).map(findingOf) : null,
    output: result === null || result.output === null ? null : chunks.add(bodyText(outputText(result), 0)),
    schema: timeline.schema,
    notes: notesOf(record),
    denials: denialsOf(result, timeline),
    turns: timeline.turns,
    input_tokens: result?.usage.total_input_tokens ?? null,
    carried,
    carried_left_out: left_out,
    entries: timeline.entries,
  };
}

function outputText({ output }: RunResult): string {
  return typeof output === 'string' ? output : JSON.stringify(output, null, 2);
}

function figuresOf({ usage, turns, duration_ms, tool_calls }: RunResult): [string, string, string][] {
  const cached = usage.total_input_tokens > 0 ? usage.total_cache_read_input_tokens / usage.total_input_tokens : 0;
  const bad = [
    ...(tool_calls.denied > 0 ? [`${tool_calls.denied} denied`] : []),
    ...(tool_calls.failed > 0 ? [`${tool_calls.failed} failed`] : []),
    ...(tool_calls.timed_out > 0 ? [`${tool_calls.timed_out} timed out`] : []),
  ];
  return [
    ['Turns', showCount(turns), usage.retries > 0 ? showMany(usage.retries, 'retry').replace('retrys', 'retries') : ''],
    ['Cost', usage.cost_usd === null ? 'unknown' : showUsd(usage.cost_usd), usage.estimated ? 'partly estimated' : ''],
    ['Tokens in', showCount(usage.total_input_tokens), `${Math.round(cached * 100)}% from the cache`],
    [
      'Tokens out',
      showCount(usage.total_output_tokens),
      usage.total_thinking_tokens > 0 ? `${showCount(usage.total_thinking_tokens)} thinking` : '',
    ],
    ['Tool calls', showCount(tool_calls.total), bad.join(', ')],
    ['Time', showSpan(duration_ms), `${showSpan(usage.api_duration_ms)} waiting for the model`],
  ];
}

function factsOf({ run_dir, run_id, result }: RunRecord): [string, string][] {
  if (result === null)
    return [
      ['Run', lineText(run_id)],
      ['Folder', lineText(run_dir, 400)],
    ];
  const { task, runner, git, limit_reached } = result;
  const { sandbox } = runner;
  const facts: [string, string][] = [
    ['Model', `${result.provider}/${result.model}`],
    ['Started', result.started_at],
    ['Run', `${result.run_id}${result.resumed ? ' (resumed)' : ''}`],
    ['Task file', `${task.file}${task.ref === null ? '' : ` at ${task.ref}`}`],
    [
      'Commit',
      git === null
        ? 'no git'
        : `${git.head ?? 'none'}${git.branch === null ? '' : ` (${git.branch})`}${git.dirty ? ', with changes' : ''}`,
    ],
    [
      'Sandbox',
      `${sandbox.mode === 'off' ? 'off' : sandbox.active}${sandbox.detail === '' ? '' : ` (${sandbox.detail})`}`,
    ],
    ['Runner', `agent-run ${runner.version}, Node ${runner.node}, ${runner.platform}`],
    ['Folder', run_dir],
  ];
  if (limit_reached)
    facts.unshift(['Limit reached', `${limit_reached.reason}: ${limit_reached.used} of ${limit_reached.limit}`]);
  return facts.map(([name, value]) => [name, lineText(value, 400)]);
}

function limitsOf({ limits, usage, turns, tool_calls, duration_ms, denials }: RunResult): PageLimit[] {
  const rows: [string, string, number | null, (value: number) => string][] = [
    ['Turns', 'max_turns', turns, showCount],
    ['Input tokens', 'max_input_tokens', usage.total_input_tokens, showCount],
    ['Output tokens', 'max_output_tokens', usage.total_output_tokens, showCount],
    ['Tokens', 'max_total_tokens', usage.total_input_tokens + usage.total_output_tokens, showCount],
    ['Cost', 'max_cost_usd', usage.cost_usd, showUsd],
    ['Tool calls', 'max_tool_calls', tool_calls.total, showCount],
    ['Denied calls', 'max_denials', denials.length, showCount],
    ['Time', 'timeout_ms', duration_ms, showSpan],
  ];
  return rows.flatMap(([name, field, used, show]) => {
    const most = numberField(limits, field);
    if (most === null) return [];
    const share = used === null || most === 0 ? 0 : Math.min(1, used / most);
    return [{ name, used: used === null ? 'unknown' : show(used), most: show(most), share }];
  });
}

function findingOf(finding: RunRecord['findings'][number]): PageFinding {
  const { level, title, message } = finding;
  const shown = showControls((message ?? '').slice(0, 4000));
  return { level, place: lineText(placeOf(finding), 300), title: lineText(title ?? '', 200), message: shown };
}

function notesOf(record: RunRecord): PageRun['notes'] {
  const { result, problems } = record;
  const issue = ({ pointer, message }: { pointer: string; message: string }): string =>
    `${pointer || '(root)'}: ${message}`;
  const failed = (result?.verify ?? []).filter(({ ok }) => !ok);
  const passed = result?.status === 'success';
  const all: PageRun['notes'] = [
    { title: 'Not readable', tone: 'bad', lines: problems },
    { title: 'Output errors', tone: 'bad', lines: (result?.output_errors ?? []).map(issue) },
    { title: 'Gate says no', tone: 'bad', lines: result?.gate?.ok === false ? result.gate.issues.map(issue) : [] },
    {
      // The agent mended it: a run that passed is not marked as one that did not.
      title: passed ? 'Verify failed before it passed' : 'Verify failed',
      tone: passed ? 'warn' : 'bad',
      lines: failed.map(({ command, output }) => `${command}\n${output}`),
    },
    { title: 'Warnings', tone: 'warn', lines: warningsOf(record) },
    { title: 'Context that was cut', tone: 'warn', lines: (result?.context ?? []).flatMap(cutContext) },
  ];
  return all
    .filter(({ lines }) => lines.length > 0)
    .map((note) => ({
      ...note,
      lines: note.lines.slice(0, MAX_LISTED).map((line) => showControls(line.slice(0, 4000))),
    }));
}

function cutContext({ label, omitted_bytes, notes }: RunResult['context'][number]): string[] {
  if (omitted_bytes === 0 && notes.length === 0) return [];
  return [[`${label}: ${showCount(omitted_bytes)} bytes left out`, ...notes].join('; ')];
}

function denialsOf(result: RunResult | null, timeline: Timeline): PageRun['denials'] {
  return (result?.denials ?? []).slice(0, MAX_LISTED).map(({ tool, tool_use_id, rule, reason }) => ({
    tool: lineText(tool, 80),
    rule: lineText(rule ?? 'no rule'),
    reason: lineText(reason, 1000),
    entry: timeline.denied.get(tool_use_id) ?? -1,
  }));
}
