import { basename, dirname, join } from 'node:path';
import { parseJson } from '../core/json.ts';
import { errorText } from '../core/errors.ts';
import { showMany } from '../core/figures.ts';
import { listField, numberField, textField } from './fields.ts';
import { linesOf } from './transcript-lines.ts';
import { openRegular } from './safe-file.ts';
import { readShard, type BatchPart } from './batch-part.ts';

const MAX_RECORD_BYTES = 256 * 1024 ** 2;
const RECORD_FILE = /^batch(-(\d{1,6})-of-(\d{1,6}))?\.jsonl$/;
const NOT_BEGUN = 'the batch was killed, or is still going, and had not begun it';

/** The report that a batch leaves beside a record of this name when it ends; undefined: no record is called so. */
export function reportBeside(name: string): string | undefined {
  const [whole, part = ''] = RECORD_FILE.exec(name) ?? [];
  return whole === undefined ? undefined : `report${part}.json`;
}

/** What the last batch of a record had before it, and what became of it. */
interface Stretch {
  time: string;
  runs: number;
  tasks: { task: string; file: string }[];
  told: Map<string, { run_dir: string; ended: boolean }>;
}

/** Reads the record of a batch that left no report: what it never began must not look as if nobody had asked for it. */
export async function readUnended(path: string): Promise<BatchPart> {
  const { stretch, problem } = await readStretch(path);
  const [, , index, count] = RECORD_FILE.exec(basename(path)) ?? [];
  const shard = readShard({ index: Number(index), count: Number(count) });
  return {
    ...(shard ? { shard } : {}),
    ...told(stretch),
    problems: [problem ?? `${join(dirname(path), reportBeside(basename(path)) ?? '')} is missing: ${ending(stretch)}`],
    path,
  };
}

async function readStretch(path: string): Promise<{ stretch: Stretch; problem?: string }> {
  const stretch: Stretch = { time: '', runs: 0, tasks: [], told: new Map() };
  const opened = await openRegular(path, MAX_RECORD_BYTES);
  if (opened.kind === 'missing') return { stretch, problem: `${path} is gone` };
  if (opened.kind === 'refused') return { stretch, problem: opened.problem };
  try {
    for await (const { text } of linesOf(opened.file, opened.bytes)) take(stretch, parseJson(text ?? ''));
    return { stretch };
  } catch (error) {
    return { stretch, problem: `${path} cannot be read: ${errorText(error)}` }; // EIO
  } finally {
    await opened.file.close();
  }
}

/** A line that a kill tore or a stranger wrote is passed over, as the batch itself does when it goes on. */
function take(stretch: Stretch, parsed: ReturnType<typeof parseJson>): void {
  const line = parsed.ok ? parsed.value : null;
  const type = textField(line, 'type');
  if (type === 'batch_start') {
    stretch.time = textField(line, 'time');
    stretch.runs = numberField(line, 'runs') ?? 0;
    stretch.tasks = listField(line, 'tasks').map((item) => ({
      task: textField(item, 'task', 'unknown'),
      file: textField(item, 'file'),
    }));
    stretch.told = new Map();
  }
  const ended = type === 'run_end' || type === 'run_told';
  if (ended || type === 'run_begin') {
    stretch.told.set(textField(line, 'task'), { run_dir: textField(line, 'run_dir'), ended });
  }
}

function told({ tasks, told: runs }: Stretch): Pick<BatchPart, 'not_started' | 'runs'> {
  const left = tasks.filter(({ task }) => !runs.has(task));
  return {
    not_started: left.map((item) => ({ ...item, reason: 'cancelled', message: NOT_BEGUN })),
    runs: [...runs.values()].flatMap(({ run_dir }) => (run_dir === '' ? [] : [{ run_id: basename(run_dir), run_dir }])),
  };
}

function ending({ time, runs, told: all }: Stretch): string {
  const ended = [...all.values()].filter((run) => run.ended).length;
  const begun = all.size - ended;
  const begin = `the batch${time === '' ? '' : ` that began at ${time}`} was killed or is still going`;
  return `${begin}; of ${showMany(runs, 'run')} ${ended} ended, ${begun} began and did not end`;
}
