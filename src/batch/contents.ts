// What stands in the workspaces of a batch: a verdict holds only for what it was given about.

import { readlinkSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { RESULTS_FOLDER } from '../run/run-folder.ts';
import { contentState } from '../workspace/content-state.ts';
import { toolEnvironment } from '../workspace/environment.ts';
import type { RunConfig } from '../core/config.ts';
import type { Env } from '../run/place.ts';

/** Knows the content of workspaces until a run may have changed one. */
export interface Contents {
  /** The same text for the same content; null: it cannot be told. */
  of(workspace: string): Promise<string | null>;
  /** After a run that may have changed something; `hurry`: a signal came, and there is little time for the next answer. */
  forget(hurry: boolean): void;
}

const PATIENT_MS = 60_000;
const HURRIED_MS = 2000;

/** `exclude`: absolute paths that do not count, such as what the batch itself writes. */
export function createContents(env: Env, exclude: readonly string[]): Contents {
  const known = new Map<string, Promise<string | null>>();
  const paths = exclude.map(realPath);
  let timeout_ms = PATIENT_MS;
  const ask = (root: string): Promise<string | null> => {
    const toolEnv = toolEnvironment({ source: env, names: [], home: homedir(), workspace: root });
    // IoError, EACCES, a file that goes while it is looked at: then nobody can say that the content is the same.
    return contentState({ root, env: toolEnv, exclude: paths, timeout_ms }).catch(() => null);
  };
  return {
    of(workspace) {
      const answer = known.get(workspace) ?? ask(workspace);
      known.set(workspace, answer);
      return answer;
    },
    forget(hurry) {
      if (hurry) timeout_ms = HURRIED_MS;
      known.clear();
    },
  };
}

/** False for a run that is given all it works with by its task. */
export function looksAtWorkspace({ task }: RunConfig): boolean {
  const tools = task.tools.length + task.custom_tools.length + (task.mcp_servers ?? []).length;
  return tools > 0 || task.verify.length > 0 || task.context.some(({ kind }) => !GIVEN.has(kind));
}

const GIVEN: ReadonlySet<string> = new Set(['input', 'github_event']);

/** The files behind stdout and stderr, where the system names them. */
function ownFiles(): string[] {
  return ['/proc/self/fd/1', '/proc/self/fd/2'].flatMap((link) => {
    try {
      return statSync(link).isFile() ? [readlinkSync(link)] : [];
    } catch {
      // ENOENT: no /proc, or the stream is closed.
      return [];
    }
  });
}

/** Paths that say nothing of the content: what the batch writes, and `files`, of which the key of each run speaks already. */
export function notContent({ cwd, dir }: { cwd: string; dir: string }, files: readonly string[]): string[] {
  return [...new Set([dir, RESULTS_FOLDER, ...files, ...ownFiles()].map((path) => resolve(cwd, path)))];
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // ENOENT: it is not there, so it does not count anyway.
    return path;
  }
}
