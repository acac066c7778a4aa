import { parseJson, type JsonValue } from '../core/json.ts';
import { fieldOf, listField, numberField, textField } from './fields.ts';
import { readRegular } from './safe-file.ts';

const MAX_REPORT_BYTES = 256 * 1024 ** 2;
const MAX_SHARDS = 100_000;
const REPORT_VERSION = 1;

/** What a batch's report.json says beside its run folders. */
export interface BatchPart {
  shard?: { index: number; count: number };
  not_started: { task: string; file: string; reason: 'cancelled' | 'fail_fast'; message: string }[];
  problems: string[];
  /** The runs it tells of. */
  runs: { run_id: string; run_dir: string }[];
  path: string;
}

/** Reads a report that a batch left; its runs are read from their own folders. */
export async function readBatch(path: string): Promise<BatchPart> {
  const refuse = (problem: string): BatchPart => ({ not_started: [], problems: [problem], runs: [], path });
  const read = await readRegular(path, MAX_REPORT_BYTES);
  if (read.kind === 'missing') return refuse(`${path} is gone`);
  if (read.kind === 'refused') return refuse(read.problem);
  const parsed = parseJson(read.text);
  if (!parsed.ok) return refuse(`${path}: not a report: ${parsed.error.slice(0, 200)}`);
  const version = fieldOf(parsed.value, 'schema_version');
  if (version !== REPORT_VERSION) {
    const found = JSON.stringify(version ?? null).slice(0, 40);
    return refuse(`${path}: found schema_version ${found}, expected ${REPORT_VERSION}; is it a report of agent-run?`);
  }
  const shard = readShard(fieldOf(parsed.value, 'shard'));
  return {
    ...(shard ? { shard } : {}),
    not_started: listField(parsed.value, 'not_started').map(notStarted),
    runs: listField(parsed.value, 'runs').map((run) => ({
      run_id: textField(run, 'run_id'),
      run_dir: textField(run, 'run_dir'),
    })),
    path,
    problems: listField(parsed.value, 'problems').flatMap((problem) =>
      typeof problem === 'string' ? [`${path}: ${problem}`] : [],
    ),
  };
}

/** The part of a batch that a value names; undefined when it names none. */
export function readShard(value: JsonValue | undefined): BatchPart['shard'] {
  const [index, count] = [numberField(value, 'index'), numberField(value, 'count')];
  if (index === null || count === null || count > MAX_SHARDS || index > count) return undefined;
  return { index, count };
}

function notStarted(value: JsonValue): BatchPart['not_started'][number] {
  return {
    task: textField(value, 'task', 'unknown'),
    file: textField(value, 'file'),
    reason: fieldOf(value, 'reason') === 'cancelled' ? 'cancelled' : 'fail_fast',
    message: textField(value, 'message'),
  };
}
