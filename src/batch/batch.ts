import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setMaxListeners } from 'node:events';
import { errorText, UsageError } from '../core/errors.ts';
import { exitCode, type RunOutcome } from '../core/outcome.ts';
import { writeAtomically } from '../run/artifacts.ts';
import { SYSTEM_CLOCK } from '../run/clock.ts';
import { canChangeFiles } from '../run/effects.ts';
import { partOf, type Interrupts } from '../run/interrupts.ts';
import { run } from '../run/run.ts';
import { recordUnstarted, unstartedResult } from '../run/unstarted.ts';
import { openBatchFolder, type BatchFolder } from './folder.ts';
import { expandTasks } from './expand.ts';
import { loadItems, shardOf, type Item, type LoadTask, type ReadyItem, type Wanted } from './items.ts';
import { createPurse, type Purse, type Share } from './purse.ts';
import { keyOf, openRecord, type BatchRecord } from './record.ts';
import { buildReport, reportRun, type BatchReport, type NotStarted, type ReportRun } from './report.ts';
import { runJobs, type Job } from './schedule.ts';
import type { BatchOptions } from '../config/batch-options.ts';
import { buildLimits } from '../config/limits.ts';
import type { RunOptions } from '../config/merge.ts';
import type { AbortCause } from '../core/events.ts';
import type { RunConfig } from '../core/config.ts';
import type { Env } from '../run/place.ts';
import type { ResultFile } from '../run/result.ts';
import type { RunRequest } from '../run/run.ts';
import type { SegmentResult } from '../run/segment.ts';

/** Who watches a batch: they hear and never answer. */
export interface BatchWatch {
  begin(facts: { runs: number; workers: number; problems: readonly string[]; report: string }): void;
  /** Of the run of that name, about to begin. */
  subscribers(name: string): RunRequest['subscribers'];
  ended(run: ReportRun, fault?: unknown): void;
}

export interface BatchRequest {
  /** Task files, globs, `-`. */
  words: readonly string[];
  options: RunOptions;
  batch: BatchOptions;
  env: Env;
  cwd: string;
  load: LoadTask;
  /** Heard by the front door until the report is delivered. */
  interrupts: Interrupts;
  watch: BatchWatch;
}

export interface BatchResult {
  report: BatchReport;
  exit_code: number;
  /** Absolute path of the report. */
  report_file: string;
}

/** Runs many tasks in one process and leaves a report. Throws UsageError only while no batch folder is known. */
export async function runBatch(request: BatchRequest): Promise<BatchResult> {
  const { options, batch, cwd } = request;
  for (const name of ['rows', 'continue'] as const)
    if (batch[name]) throw new UsageError(`--${name} is not available in this version`);
  const place = { out: options.out, cwd, ...(batch.shard ? { shard: batch.shard } : {}) };
  const folder = openBatchFolder(place);
  try {
    return await inFolder(request, folder);
  } finally {
    folder.release();
  }
}

/** What a batch has come to so far. */
interface Batch {
  request: BatchRequest;
  folder: BatchFolder;
  record: BatchRecord;
  purse: Purse;
  started_ms: number;
  problems: string[];
  runs: ReportRun[];
  not_started: NotStarted[];
}

interface BatchJob extends Job {
  item: ReadyItem;
  key: string;
}

async function inFolder(request: BatchRequest, folder: BatchFolder): Promise<BatchResult> {
  const { batch: options, cwd, interrupts, watch } = request;
  const { items, problems } = await collect(request);
  const batch: Batch = {
    request,
    folder,
    record: openRecord(join(folder.dir, folder.record), { fresh: !options.continue }),
    purse: createPurse(options.max_total_cost_usd),
    started_ms: SYSTEM_CLOCK.now(),
    problems,
    runs: [],
    not_started: [],
  };
  setMaxListeners(0, interrupts.signal);
  batch.record.append({ type: 'batch_start', runs: items.length });
  watch.begin({ runs: items.length, workers: options.workers, problems, report: join(folder.dir, folder.report) });
  interrupts.atOnce(() => void writeReport(batch));
  for (const item of items) if ('mistake' in item) refuse(batch, item, item.mistake);
  const jobs = items.flatMap((item) => ('config' in item ? [jobOf(item, cwd)] : []));
  const left = await runJobs({
    jobs,
    workers: options.workers,
    purse: batch.purse,
    stopped: () => stopReason(batch) !== undefined,
    run: (job, share) => runJob(batch, job, share),
    unpaid: (job) => unpaid(batch, job),
  });
  const reason = stopReason(batch) ?? 'cancelled';
  batch.not_started = left.map(({ item }) => notStarted(item, reason));
  const report = writeReport(batch);
  interrupts.atOnce(null);
  batch.record.close();
  return { report, exit_code: report.totals.exit_code, report_file: join(folder.dir, folder.report) };
}

async function collect({
  words,
  options,
  batch,
  cwd,
  load,
}: BatchRequest): Promise<{ items: Item[]; problems: string[] }> {
  const { files, problems } = await expandTasks(words, cwd);
  const wanted: Wanted[] = files.map((file) => ({ file }));
  return { items: shardOf(await loadItems(wanted, options, load), batch.shard), problems };
}

function jobOf(item: ReadyItem, cwd: string): BatchJob {
  const { config } = item;
  const commands = config.task.context.some(({ kind }) => kind === 'command');
  const lane = { workspace: realpathSync(config.workspace), effects: commands || canChangeFiles(config) };
  return { item, key: keyOf(config, cwd), lane, max_cost_usd: config.task.limits.max_cost_usd };
}

function stopReason({ request, runs, problems }: Batch): NotStarted['reason'] | undefined {
  if (request.interrupts.signal.aborted) return 'cancelled';
  const failed = problems.length > 0 || runs.some(({ exit_code }) => exit_code !== 0);
  return request.batch.fail_fast && failed ? 'fail_fast' : undefined;
}

async function runJob(batch: Batch, { item, key }: BatchJob, share: Share): Promise<number | null> {
  const { request, folder, record } = batch;
  const { env, cwd, interrupts, watch } = request;
  const config = withShare(item.config, share);
  const heard = watch.subscribers(item.name);
  const around = (run_dir: string) => ({ key, task: item.name, run_dir: relative(folder.dir, run_dir) });
  try {
    const result = await run({
      config,
      env,
      cwd,
      interrupts: partOf(interrupts),
      results: folder.dir,
      subscribers: (place) => {
        record.append({ type: 'run_begin', ...around(place.run_dir) });
        // A second signal writes the report behind the results of the runs it tells of.
        interrupts.atOnce(() => void writeReport(batch));
        return heard(place);
      },
    });
    const { exit_code } = result;
    record.append({ type: 'run_end', ...around(result.run_dir), exit_code, finished: isFinished(exit_code) });
    return ended(batch, item, result);
  } catch (error) {
    // UsageError: no folder for this run. IoError: no record of it. Anything else is a bug; the others go on.
    return refuse(batch, item, error);
  }
}

/** A task that had its say is finished, whatever it said; not so one that the machine, the service or a signal ended. */
function isFinished(exit_code: number): boolean {
  return [0, 3, 4, 5, 7, 8, 9].includes(exit_code);
}

function withShare(config: RunConfig, { limit_usd }: Share): RunConfig {
  const { task } = config;
  return { ...config, task: { ...task, limits: { ...task.limits, max_cost_usd: limit_usd } } };
}

function ended(batch: Batch, { config }: ReadyItem, { result, run_dir, fault }: SegmentResult): number | null {
  const file = result as unknown as ResultFile; // run/finish.ts makes it of nothing else
  const told = reportRun(file, relative(batch.folder.dir, run_dir), config.task.findings);
  batch.runs.push(told);
  batch.request.watch.ended(told, fault);
  return told.cost_usd;
}

/** A run that never began, with the reason in a folder of its own as any other; it cost nothing. */
function refuse(batch: Batch, item: Item, error: unknown): number {
  const detail = errorText(error);
  const reason = error instanceof UsageError ? error.reason : 'internal_error';
  unstarted(batch, item, { reason, detail });
  return 0;
}

function unpaid(batch: Batch, { item }: BatchJob): void {
  const limit = batch.request.batch.max_total_cost_usd ?? 0;
  unstarted(batch, item, { reason: 'max_cost', limit, used: batch.purse.spent_usd });
}

function unstarted({ runs, folder, request }: Batch, item: Item, outcome: RunOutcome): void {
  const { cwd, watch } = request;
  const message =
    'detail' in outcome ? outcome.detail : 'the runs before it used up what --max-total-cost-usd allows all together';
  const limits = 'config' in item ? item.config.task.limits : buildLimits({}, request.options);
  const result = unstartedResult({ outcome, message, task_file: item.file, name: item.name, limits });
  let run_dir = '';
  try {
    run_dir = relative(folder.dir, recordUnstarted(result, { results: folder.dir, cwd }));
  } catch {
    // The folder cannot be written: the report, or stderr, still says what happened.
  }
  const told = reportRun(result, run_dir);
  runs.push(told);
  watch.ended(told);
}

function notStarted({ name, file }: Item, reason: NotStarted['reason']): NotStarted {
  const message = reason === 'fail_fast' ? 'another run failed, and --fail-fast was given' : 'a signal ended the batch';
  return { task: name, file, reason, message };
}

function writeReport(batch: Batch): BatchReport {
  const { request, folder, runs, not_started, problems, started_ms } = batch;
  const { signal } = request.interrupts;
  const report = buildReport({
    runs,
    not_started,
    problems,
    ...(request.batch.shard ? { shard: request.batch.shard } : {}),
    codes: [...(signal.aborted ? [exitCode(signal.reason as AbortCause)] : []), ...problems.map(() => 2)],
    started_ms,
    finished_ms: SYSTEM_CLOCK.now(),
  });
  writeAtomically(folder.dir, folder.report, `${JSON.stringify(report, null, 2)}\n`);
  return report;
}
