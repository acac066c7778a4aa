import { setMaxListeners } from 'node:events';
import { realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AbortCause } from '../core/events.ts';
import { showMany } from '../core/figures.ts';
import { exitCode } from '../core/outcome.ts';
import { writeAtomically } from '../run/artifacts.ts';
import { SYSTEM_CLOCK } from '../run/clock.ts';
import { canChangeFiles } from '../run/effects.ts';
import { refuseCommitted } from '../run/resume-trust.ts';
import { createGitFacts } from '../workspace/git-facts.ts';
import { collect } from './collect.ts';
import { createContents, looksAtWorkspace, notContent, type Contents } from './contents.ts';
import { findEarlier } from './earlier.ts';
import { openBatchFolder, type BatchFolder } from './folder.ts';
import type { Item, ReadyItem } from './items.ts';
import { carryOver, readCut, refuse, runJob, unpaid } from './one-run.ts';
import { createPurse } from './purse.ts';
import { readRecord, type Known } from './known.ts';
import { keyOf, openRecord } from './record.ts';
import { buildReport, type BatchReport, type NotStarted } from './report.ts';
import { runJobs } from './schedule.ts';
import type { Batch, BatchJob, BatchRequest } from './state.ts';

export interface BatchResult {
  report: BatchReport;
  exit_code: number;
  /** Absolute path of the report. */
  report_file: string;
}

/** Runs many tasks in one process and leaves a report. Throws UsageError only before the first of them begins. */
export async function runBatch(request: BatchRequest): Promise<BatchResult> {
  const { options, batch, cwd } = request;
  const place = { out: options.out, cwd, ...(batch.shard ? { shard: batch.shard } : {}) };
  const folder = openBatchFolder(place);
  try {
    // A report stands there if and only if this batch wrote it, also when it is killed.
    rmSync(join(folder.dir, folder.report), { force: true });
    return await inFolder(request, folder);
  } finally {
    folder.release();
  }
}

async function inFolder(request: BatchRequest, folder: BatchFolder): Promise<BatchResult> {
  const { interrupts, watch } = request;
  setMaxListeners(0, interrupts.signal);
  const { batch, items } = await begin(request, folder);
  const { jobs, problems } = batch;
  const report_file = join(folder.dir, folder.report);
  watch.begin({ runs: items.length, workers: request.batch.workers, problems, report: report_file });
  const alone = jobs.filter(({ max_cost_usd }) => max_cost_usd === null).length;
  if (request.batch.max_total_cost_usd !== undefined && request.batch.workers > 1 && alone > 0) {
    watch.note(aloneText(alone));
  }
  for (const text of anewTexts(jobs)) watch.note(text);
  interrupts.behind(() => lastWords(batch));
  for (const item of items) if ('mistake' in item) refuse(batch, item, item.mistake);
  for (const job of jobs) carryOver(batch, job);
  const left = await runJobs({
    jobs: jobs.filter(({ earlier }) => earlier.kind !== 'finished'),
    workers: request.batch.workers,
    purse: batch.purse,
    stopped: () => stopReason(batch) !== undefined,
    run: (job, share) => runJob(batch, job, share),
    unpaid: (job) => unpaid(batch, job),
  });
  const reason = stopReason(batch) ?? 'cancelled';
  batch.not_started = left.map(({ item }) => notStarted(item, reason));
  watch.end();
  const report = writeReport(batch);
  interrupts.behind(null);
  batch.record.close();
  return { report, exit_code: report.totals.exit_code, report_file };
}

/** Everything a batch is made from, and the first line of its record. */
async function begin(request: BatchRequest, folder: BatchFolder): Promise<{ batch: Batch; items: readonly Item[] }> {
  const { cwd, env } = request;
  const { items, problems, files } = await collect(request);
  const known = request.batch.continue ? readRecord(join(folder.dir, folder.record)) : undefined;
  const not_content = notContent({ cwd, dir: folder.dir }, [...files, ...(known?.not_content ?? [])]);
  const contents = createContents(env, not_content);
  const jobs = await jobsOf(request, folder, { items, known, contents });
  const batch = openBatch(request, folder, { jobs, problems, contents });
  const tasks = items.map(({ name, file }) => ({ task: name, file }));
  batch.record.append({ type: 'batch_start', runs: items.length, tasks, not_content });
  return { batch, items };
}

function openBatch(
  request: BatchRequest,
  folder: BatchFolder,
  { jobs, problems, contents }: Pick<Batch, 'jobs' | 'problems' | 'contents'>,
): Batch {
  const { batch: options } = request;
  return {
    request,
    folder,
    record: openRecord(join(folder.dir, folder.record), { fresh: !options.continue }),
    purse: createPurse(options.max_total_cost_usd),
    started_ms: SYSTEM_CLOCK.now(),
    jobs,
    problems,
    runs: [],
    not_started: [],
    running: new Map(),
    facts: createGitFacts(SYSTEM_CLOCK),
    contents,
  };
}

/** The ready items with what an earlier batch left of them, when this one goes on. */
async function jobsOf(
  request: BatchRequest,
  folder: BatchFolder,
  { items, known, contents }: { items: readonly Item[]; known: Known | undefined; contents: Contents },
): Promise<BatchJob[]> {
  const ready = items.flatMap((item) => ('config' in item ? [item] : []));
  if (known && ready.some(({ config }) => config.untrusted)) {
    await refuseCommitted(folder.dir, request.env, folder.record);
  }
  const jobs: BatchJob[] = [];
  for (const item of ready) jobs.push(await jobOf(request, folder, { item, known, contents }));
  return jobs;
}

async function jobOf(
  { cwd, env }: BatchRequest,
  { dir }: BatchFolder,
  { item, known, contents }: { item: ReadyItem; known: Known | undefined; contents: Contents },
): Promise<BatchJob> {
  const { config } = item;
  const commands = config.task.context.some(({ kind }) => kind === 'command');
  const workspace = realpathSync(config.workspace);
  const key = keyOf(config, cwd);
  const effects = commands || canChangeFiles(config);
  const looks = effects || looksAtWorkspace(config);
  return {
    item,
    key,
    looks,
    lane: { workspace, effects },
    max_cost_usd: config.task.limits.max_cost_usd,
    earlier: known ? await findEarlier(known, key, { dir, workspace, env, contents, looks }) : { kind: 'none' },
  };
}

function stopReason({ request, runs, problems }: Batch): NotStarted['reason'] | undefined {
  if (request.interrupts.signal.aborted) return 'cancelled';
  const failed = problems.length > 0 || runs.some(({ exit_code }) => exit_code !== 0);
  return request.batch.fail_fast && failed ? 'fail_fast' : undefined;
}

function notStarted({ name, file }: Item, reason: NotStarted['reason']): NotStarted {
  const message = reason === 'fail_fast' ? 'another run failed, and --fail-fast was given' : 'a signal ended the batch';
  return { task: name, file, reason, message };
}

/** A second signal: the runs have just written their results, and the process ends behind this. */
function lastWords(batch: Batch): void {
  try {
    readCut(batch);
    const told = new Set(batch.runs.map(({ task }) => task));
    const left = batch.jobs.filter(({ item }) => !told.has(item.name));
    batch.not_started = left.map(({ item }) => notStarted(item, 'cancelled'));
    writeReport(batch);
  } catch {
    // A full disk: the results of the runs stand all the same, if they do.
  }
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

function aloneText(count: number): string {
  return `${showMany(count, 'run')} without a cost limit of its own: each reserves all that is left of --max-total-cost-usd, so they go one after another; give --max-cost-usd to let them go side by side`;
}

/** Why runs that had their verdict begin anew, once for each reason. */
function anewTexts(jobs: readonly BatchJob[]): string[] {
  const byReason = new Map<string, string[]>();
  for (const { item, earlier } of jobs) {
    if (earlier.kind !== 'none' || earlier.why === undefined) continue;
    byReason.set(earlier.why, [...(byReason.get(earlier.why) ?? []), item.name]);
  }
  return [...byReason].map(([why, names]) => {
    const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
    return `begun anew, because ${why}: ${names.slice(0, NAMES_SHOWN).join(', ')}${more}`;
  });
}

const NAMES_SHOWN = 10;
