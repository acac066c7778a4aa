// Where the task and what it names are read: the disk or, with `--task-ref`, a commit. Never what a stranger wrote.

import { resolve } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { checkoutOf } from './checkout.ts';
import { baseCommit, headCommits } from './event-commits.ts';
import { listDisk, type ListFolder } from './list-folder.ts';
import type { Env, RunOptions } from './merge.ts';
import { MAX_NAMED_BYTES, readDisk, type ReadFile } from './source.ts';

export interface ReaderRequest {
  /** The task as given on the command line. */
  file: string;
  options: RunOptions;
  env: Env;
  cwd: string;
  /** Opens a commit of the repository around an absolute folder; absent: `task_ref` cannot be served. */
  openCommit?: (ref: string, folder: string) => Promise<CommitFiles>;
}

/** A commit and what reads the files in it by the absolute path they have in a checkout. */
export interface CommitFiles {
  commit: string;
  read: ReadFile;
  list: ListFolder;
}

interface Trust {
  /** Absolute. */
  workspace: string;
  /** What makes the run untrusted; absent: nothing does. */
  reason: string | undefined;
}

/** How the task is read, and the id of the commit it comes from; throws UsageError for a commit that cannot be used. */
export async function chooseReader(
  request: ReaderRequest,
  trust: Trust,
): Promise<{ read: ReadFile; list: ListFolder; commit: string | null }> {
  const { options, file, cwd, env } = request;
  const inCheckout = checkoutOf(trust.workspace);
  if (options.task_ref === undefined) return { ...fromDisk(inCheckout, trust, env), commit: null };
  if (file === '-') {
    throw new UsageError('--task-ref: found it together with a task on standard input, expected a task file');
  }
  if (!request.openCommit) throw new UsageError('--task-ref is not available here');
  const folder = inCheckout(resolve(cwd, file)) ? trust.workspace : cwd;
  const opened = await request.openCommit(options.task_ref, folder);
  if (trust.reason !== undefined && headCommits(env).includes(opened.commit)) {
    throw new UsageError(
      `--task-ref: ${JSON.stringify(options.task_ref)} is the head that a stranger wrote, and the run is untrusted (${trust.reason}); name a commit of the base: ${baseName(env)}`,
    );
  }
  return opened;
}

function fromDisk(
  inCheckout: (path: string) => boolean,
  { reason }: Trust,
  env: Env,
): Pick<CommitFiles, 'read' | 'list'> {
  const refused = (path: string): { ok: false; reason: string } | undefined => {
    if (reason === undefined || !inCheckout(path)) return undefined;
    return {
      ok: false,
      reason: `it lies in the checkout, which a stranger may have written, and the run is untrusted (${reason}); take the task and what it names from a commit: --task-ref ${baseName(env)}`,
    };
  };
  return {
    read: async (path) => refused(path) ?? readDisk(path, MAX_NAMED_BYTES),
    list: async (path) => refused(path) ?? listDisk(path),
  };
}

/** The commit to name, as far as the CI tells. */
function baseName(env: Env): string {
  const target = env['CHANGE_FORK'] ? env['CHANGE_TARGET'] : undefined;
  return baseCommit(env) ?? (target ? `origin/${target}` : 'BASE');
}
