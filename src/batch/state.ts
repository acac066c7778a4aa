// What a batch knows while it runs, and who asks for it.

import type { BatchOptions } from '../config/batch-options.ts';
import type { RunOptions } from '../config/merge.ts';
import type { Interrupts } from '../run/interrupts.ts';
import type { Env } from '../run/place.ts';
import type { RunRequest } from '../run/run.ts';
import type { GitFacts } from '../workspace/git-facts.ts';
import type { Contents } from './contents.ts';
import type { Earlier } from './earlier.ts';
import type { BatchFolder } from './folder.ts';
import type { LoadTask, ReadyItem } from './items.ts';
import type { Purse } from './purse.ts';
import type { BatchRecord } from './record.ts';
import type { NotStarted, ReportRun } from './report.ts';
import type { Job } from './schedule.ts';

/** Who watches a batch: they hear and never answer. */
export interface BatchWatch {
  begin(facts: { runs: number; workers: number; problems: readonly string[]; report: string }): void;
  /** Of the run of that name, about to begin. */
  subscribers(name: string): RunRequest['subscribers'];
  /** Something worth a line that is no event of a run. */
  note(text: string): void;
  ended(run: ReportRun, fault?: unknown): void;
  /** Nothing further comes. */
  end(): void;
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

/** What a batch has come to so far. */
export interface Batch {
  request: BatchRequest;
  folder: BatchFolder;
  record: BatchRecord;
  purse: Purse;
  started_ms: number;
  jobs: readonly BatchJob[];
  problems: string[];
  runs: ReportRun[];
  not_started: NotStarted[];
  /** Folders of runs that have begun and not ended. */
  running: Map<BatchJob, string>;
  /** What git says of workspaces. */
  facts: GitFacts;
  contents: Contents;
}

export interface BatchJob extends Job {
  item: ReadyItem;
  key: string;
  /** What it says may hang on what stands in its workspace. */
  looks: boolean;
  /** What an interrupted batch left of it. */
  earlier: Earlier;
}
