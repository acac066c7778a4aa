import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorText } from '../core/errors.ts';
import { type Finding, missedFindings, readFindings } from '../core/findings.ts';
import { type JsonObject, type JsonValue, isJsonObject } from '../core/json.ts';
import type { FindingsMap } from '../core/config.ts';
import { fieldOf, objectField, textField } from './fields.ts';
import { readResult, type RunResult } from './run-result.ts';
import { nameOf } from './safe-file.ts';
import { readTranscript } from './transcript-lines.ts';

export const RESULT_FILE = 'result.json';
export const TRANSCRIPT_FILE = 'transcript.jsonl';

/** A run folder as far as it can be read; `result` is null for a run that never ended, or whose result cannot be read. */
export interface RunRecord {
  /** As given or found. */
  run_dir: string;
  run_id: string;
  task: string;
  result: RunResult | null;
  /** Whether there is a transcript worth reading. */
  has_transcript: boolean;
  /** Absolute path of the workspace, to make paths of findings relative; '' when not known. */
  workspace: string;
  findings: Finding[];
  /** Whether the output has the list that the task says, empty or not. */
  has_findings: boolean;
  /** Why an output has no list where the task says; null: it has one, or there is none to expect. */
  lost_findings: string | null;
  /** What of this folder could not be read; each a sentence that names the file. */
  problems: string[];
}

/** Reads one run folder: its result and the first event of its transcript. Throws for nothing that lies in it. */
export async function readRun(run_dir: string): Promise<RunRecord> {
  const record = emptyRecord(run_dir);
  const problem = await folderProblem(run_dir);
  if (problem !== null) return { ...record, problems: [problem] };
  const read = await readResult(join(run_dir, RESULT_FILE));
  const start = await readStart(join(run_dir, TRANSCRIPT_FILE));
  if (read.kind === 'missing' && start.kind === 'missing') {
    const what = `it has neither ${RESULT_FILE} nor ${TRANSCRIPT_FILE}`;
    return {
      ...record,
      problems: [`${run_dir} is no run folder: ${what}; give the folder of a run, or --merge to search below it`],
    };
  }
  const result = read.kind === 'result' ? read.result : null;
  const event = start.kind === 'start' ? start.event : undefined;
  const map = findingsMap(fieldOf(fieldOf(event, 'task'), 'findings'));
  const output = result?.output ?? null;
  const found = map ? readFindings(output, map) : null;
  return {
    ...record,
    run_id: result?.run_id ?? textField(event, 'run_id'),
    task: result?.task.name ?? textField(fieldOf(event, 'task'), 'name', basename(run_dir)),
    result,
    has_transcript: start.kind === 'start',
    workspace: textField(event, 'workspace'),
    findings: found ?? [],
    has_findings: found !== null,
    lost_findings: map && output !== null && result?.exit_reason !== 'skipped' ? missedFindings(output, map) : null,
    problems: [...resultProblems(run_dir, read), ...startProblems(run_dir, start, result)],
  };
}

function emptyRecord(run_dir: string): RunRecord {
  const unknown = { run_id: '', task: basename(run_dir), result: null, has_transcript: false, workspace: '' };
  return { run_dir, ...unknown, findings: [], has_findings: false, lost_findings: null, problems: [] };
}

async function folderProblem(run_dir: string): Promise<string | null> {
  try {
    const stat = await lstat(run_dir);
    if (stat.isDirectory()) return null;
    return `${run_dir} is ${stat.isFile() ? 'a file' : nameOf(stat)}, not a run folder`;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return `there is no run folder ${run_dir}`;
    return `${run_dir} cannot be read: ${errorText(error)}`; // EACCES, ENOTDIR
  }
}

function resultProblems(run_dir: string, read: Awaited<ReturnType<typeof readResult>>): string[] {
  if (read.kind === 'refused') return [read.problem];
  if (read.kind === 'result') return [];
  return [`${run_dir} has no ${RESULT_FILE}: the run was killed or is still going, so how it ended is not known`];
}

type Start =
  | { kind: 'start'; event: JsonObject }
  | { kind: 'missing' }
  | { kind: 'none' }
  | { kind: 'problem'; problem: string };

/** The first event, which holds the task; the rest is not read here. */
async function readStart(path: string): Promise<Start> {
  if ((await lstat(path).catch(() => null)) === null) return { kind: 'missing' };
  for await (const item of readTranscript(path)) {
    if (item.kind === 'problem') return item;
    if (item.event['type'] === 'run_start') return { kind: 'start', event: item.event };
    // A mistake that was found before the first request: the run ended without having begun.
    if (item.event['type'] === 'run_end' && item.event['seq'] === 1) return { kind: 'none' };
    return { kind: 'problem', problem: `${path}: the first event is not a run_start` };
  }
  return { kind: 'none' };
}

function startProblems(run_dir: string, start: Start, result: RunResult | null): string[] {
  if (start.kind === 'problem') return [start.problem];
  if (start.kind === 'start' || result === null) return [];
  // A run that ended before its first event (a mistake in the task) has none to show.
  const expected = result.artifacts['transcript'] !== undefined && result.turns > 0;
  return expected
    ? [`${run_dir} has no events of its ${result.turns} turns: ${TRANSCRIPT_FILE} is missing or empty`]
    : [];
}

/** The map of a transcript is as untrusted as the rest of it. */
function findingsMap(value: JsonValue | undefined): FindingsMap | undefined {
  if (!isJsonObject(value) || typeof value['items'] !== 'string') return undefined;
  const names = ['path', 'line', 'end_line', 'level', 'title', 'message'] as const;
  const pointers = names.flatMap((name) => (typeof value[name] === 'string' ? [[name, value[name]] as const] : []));
  const levels = Object.entries(objectField(value, 'levels') ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { items: value['items'], ...Object.fromEntries(pointers), levels: Object.fromEntries(levels) };
}
