// One run of a batch, from its reservation to its line in the report.

import { relative } from 'node:path';
import { buildLimits } from '../config/limits.ts';
import { errorText, UsageError, usageOutcome } from '../core/errors.ts';
import type { RunOutcome } from '../core/outcome.ts';
import { partOf } from '../run/interrupts.ts';
import { headOf } from '../run/resume-trust.ts';
import { resume } from '../run/resume.ts';
import { run } from '../run/run.ts';
import { recordUnstarted, unstartedResult } from '../run/unstarted.ts';
import type { RunConfig } from '../core/config.ts';
import type { ResultFile } from '../run/result.ts';
import type { RunRequest } from '../run/run.ts';
import type { SegmentResult } from '../run/segment.ts';
import { readResult } from './earlier.ts';
import type { Item } from './items.ts';
import type { Share } from './purse.ts';
import { reportRun, type ReportRun } from './report.ts';
import type { Batch, BatchJob } from './state.ts';

/** Runs a job, or goes on with what an interrupted batch left of it; the answer is what it cost, null when not known. */
export async function runJob(batch: Batch, job: BatchJob, share: Share): Promise<number | null> {
  try {
    const result = await goOn(batch, job, share);
    await recordEnd(batch, job, result);
    return ended(batch, job, result);
  } catch (error) {
    // UsageError: no folder for this run. IoError: no record of it. Anything else is a bug; the others go on.
    refuse(batch, job.item, error);
    batch.contents.forget(false);
    return error instanceof UsageError ? 0 : null;
  } finally {
    if (job.lane.effects) batch.facts.forget();
    batch.running.delete(job);
  }
}

/** A run that had its verdict before: told again, paid once. */
export function carryOver(batch: Batch, { item, earlier }: BatchJob): void {
  if (earlier.kind !== 'finished') return;
  const { result, run_dir } = earlier;
  const told = reportRun(result, relative(batch.folder.dir, run_dir), item.config.task.findings);
  batch.purse.spend(told.cost_usd ?? 0);
  batch.runs.push({ ...told, carried: true });
  tell(batch, told);
  batch.request.watch.ended({ ...told, carried: true });
}

async function goOn(batch: Batch, job: BatchJob, share: Share): Promise<SegmentResult> {
  const { request, folder } = batch;
  const { item, earlier } = job;
  const { env, cwd, interrupts } = request;
  const { workspace } = job.lane;
  const content = job.looks ? { workspace, content: await batch.contents.of(workspace) } : {};
  const common = { env, cwd, results: folder.dir, subscribers: subscribersOf(batch, job, content) };
  const config = withShare(item.config, share);
  if (earlier.kind === 'begun') {
    const { run_dir, allow_changed, spent_usd } = earlier;
    try {
      const { limits } = config.task;
      return await resume({ ...common, run_dir, limits, allow_changed, interrupts: partOf(interrupts) });
    } catch (error) {
      // UsageError: it cannot go on, because the servers differ for example. What it cost stays spent.
      if (!(error instanceof UsageError)) throw error;
      batch.purse.spend(spent_usd);
      request.watch.note(`${item.name}: begun anew, because it cannot go on: ${error.message}`);
    }
  }
  return run({ ...common, config, facts: batch.facts, interrupts: partOf(interrupts) });
}

function subscribersOf(
  batch: Batch,
  job: BatchJob,
  content: { workspace?: string; content?: string | null },
): RunRequest['subscribers'] {
  const { request, record, running } = batch;
  const heard = request.watch.subscribers(job.item.name);
  return (place) => {
    const effects = job.lane.effects ? { effects: true } : {};
    record.append({ type: 'run_begin', ...nameOf(batch, job, place.run_dir), ...content, ...effects });
    running.set(job, place.run_dir);
    return heard(place);
  };
}

async function recordEnd(batch: Batch, job: BatchJob, { run_dir, exit_code }: SegmentResult): Promise<void> {
  const { workspace, effects } = job.lane;
  if (effects) batch.contents.forget(batch.request.interrupts.signal.aborted);
  const left = effects
    ? { workspace, head: await headOf(workspace, batch.request.env), content: await batch.contents.of(workspace) }
    : {};
  batch.record.append({ type: 'run_end', ...nameOf(batch, job, run_dir), exit_code, ...left });
}

function nameOf(
  batch: Batch,
  { key, item }: BatchJob,
  run_dir: string,
): { key: string; task: string; run_dir: string } {
  return { key, task: item.name, run_dir: relative(batch.folder.dir, run_dir) };
}

function withShare(config: RunConfig, { limit_usd }: Share): RunConfig {
  const { task } = config;
  return { ...config, task: { ...task, limits: { ...task.limits, max_cost_usd: limit_usd } } };
}

function ended(batch: Batch, { item }: BatchJob, { result, run_dir, fault, remark }: SegmentResult): number | null {
  const file = result as unknown as ResultFile; // run/finish.ts makes it of nothing else
  const told = reportRun(file, relative(batch.folder.dir, run_dir), item.config.task.findings);
  batch.runs.push(told);
  batch.request.watch.ended(told, fault);
  if (remark !== undefined) batch.request.watch.note(`${item.name}: ${remark}`);
  return told.cost_usd;
}

/** A run that never began: the reason stands in a folder of its own, as that of any other. */
export function refuse(batch: Batch, item: Item, error: unknown): void {
  const bug: RunOutcome = { reason: 'internal_error', detail: errorText(error) };
  unstarted(batch, item, error instanceof UsageError ? usageOutcome(error) : bug);
}

/** A run for which no money is left. */
export function unpaid(batch: Batch, { item }: BatchJob): void {
  const limit = batch.request.batch.max_total_cost_usd ?? 0;
  unstarted(batch, item, { reason: 'max_cost', limit, used: batch.purse.spent_usd });
}

/** Why a run has no money, told by no other. */
const UNPAID = 'the runs before it used up what --max-total-cost-usd allows all together';

/** True for a run that never began because all the money was spent. */
export function isUnpaid({ exit_reason, message }: ReportRun): boolean {
  return exit_reason === 'max_cost' && message === UNPAID;
}

function unstarted(batch: Batch, item: Item, outcome: RunOutcome): void {
  const { runs, folder, request } = batch;
  const { cwd, watch } = request;
  const message = 'detail' in outcome ? outcome.detail : UNPAID;
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
  tell(batch, told);
  watch.ended(told);
}

/** For who reads the record of a batch that was killed. */
function tell({ record }: Batch, { task, run_dir, exit_code }: ReportRun): void {
  try {
    record.append({ type: 'run_told', task, run_dir, exit_code });
  } catch {
    // IoError: the next run that begins meets it; that nothing ran here stands in the report.
  }
}

/** Results of runs that a second signal cut: written the moment before, by the runs themselves. */
export function readCut(batch: Batch): void {
  for (const [job, run_dir] of batch.running) {
    const result = readResult(run_dir);
    if (result) batch.runs.push(reportRun(result, relative(batch.folder.dir, run_dir), job.item.config.task.findings));
  }
  batch.running.clear();
}
