import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError, errorText } from '../core/errors.ts';
import { LOCK_FILE, takeLock } from './run-lock.ts';
import type { Random } from '../core/ports.ts';

export const RESULTS_FOLDER = 'agent-run-results';
export const TRANSCRIPT = 'transcript.jsonl';
export const OUTPUTS = 'outputs';
/** What was said in full, with --verbose. */
export const BODIES = 'verbose.log';

/** Everything a run writes beside `outputs/`; nothing else in a folder is ever removed. */
export const RUN_FILES = [
  'result.json',
  'output.json',
  'output.md',
  TRANSCRIPT,
  'usage.json',
  'summary.md',
  'changes.patch',
  BODIES,
] as const;

/** Behind the name of a file that stood there before a run went on. */
export const SET_ASIDE = '.before-resume';

/** A file half written when its run died: `.result.json.1f2e3d.tmp`. */
const LEFTOVER = /^\.[a-z.]+\.[0-9a-f]{6}\.tmp$/;
export const RUN_ID = /^\d{8}T\d{6}Z-\d+-[0-9a-f]{6}$/;

export interface RunFolder {
  /** Absolute. */
  dir: string;
  /** What no tool sees: the folder itself, or that of all runs of a batch. */
  hidden: string;
  transcript: string;
  outputsDir: string;
  /** Names of an earlier run's files that were removed. */
  cleaned: string[];
  /** Gives the folder free for another run. */
  release(): void;
}

/** UTC time, attempt, random: `20261130T114500Z-1-ab12cd`; sorts by time, but for runs of one second. */
export function createRunId({ now_ms, attempt, random }: { now_ms: number; attempt: number; random: Random }): string {
  const time = new Date(now_ms)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:]/g, '');
  const tail = Math.floor(random() * 0x1000000)
    .toString(16)
    .padStart(6, '0');
  return `${time}-${attempt}-${tail}`;
}

export interface FolderOptions {
  out?: string;
  cwd: string;
  /** Where folders of runs go when no `out` is given; absolute. Default: `agent-run-results` below `cwd`. */
  results?: string;
  name: string;
  run_id: string;
}

/** Makes or empties the folder of a new run and creates its transcript; throws UsageError when that cannot be. */
export function openRunFolder(options: FolderOptions): RunFolder {
  const { out, cwd, results = join(cwd, RESULTS_FOLDER), name, run_id } = options;
  const dir = out === undefined ? defaultFolder(results, name, run_id) : absolute(cwd, out);
  attempt(dir, () => makeFolders(dir));
  const leftovers = earlierFiles(dir);
  const release = takeLock(dir, run_id);
  try {
    attempt(dir, () => leftovers.forEach((entry) => rmSync(join(dir, entry), { recursive: true, force: true })));
    attempt(dir, () => closeSync(openSync(join(dir, TRANSCRIPT), 'wx', 0o600)));
  } catch (error) {
    // The folder is not ours after all; whoever may use it must not find it locked.
    release();
    throw error;
  }
  const hidden = options.results ?? dir;
  return {
    dir,
    hidden,
    transcript: join(dir, TRANSCRIPT),
    outputsDir: join(dir, OUTPUTS),
    cleaned: leftovers,
    release,
  };
}

/** Makes a folder and what is missing above it. Node 20's own recursion never ends where a parent exists and refuses, as /proc does. */
export function makeFolders(dir: string): void {
  if (existsSync(dir)) return;
  makeFolders(dirname(dir));
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    // EEXIST: another run made it meanwhile.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** The folder of a run that goes on; nothing in it is removed but what was half written when the run died. */
export function reopenRunFolder(dir: string, run_id: string): RunFolder {
  const transcript = join(dir, TRANSCRIPT);
  if (!isRealFile(transcript)) {
    throw new UsageError(`${dir} is no run folder: it has no ${TRANSCRIPT}; give the folder of an earlier run`);
  }
  const release = takeLock(dir, run_id);
  const halves = readdirSync(dir).filter((name) => LEFTOVER.test(name));
  for (const name of halves) rmSync(join(dir, name), { force: true });
  return { dir, hidden: dir, transcript, outputsDir: join(dir, OUTPUTS), cleaned: halves, release };
}

function defaultFolder(results: string, name: string, run_id: string): string {
  const task = join(results, folderName(name));
  for (const folder of [results, task]) {
    attempt(folder, () => makeFolders(folder));
    refuseLink(folder);
  }
  ignoreItself(results);
  return join(task, run_id);
}

/** A task's name is free text for some front doors; a folder's is not. */
function folderName(name: string): string {
  return (
    name
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 200) || 'task'
  );
}

export function ignoreItself(folder: string): void {
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx', mode: 0o644 });
  } catch (error) {
    // EEXIST: an earlier run wrote it, or somebody else did, who then knows why.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw cannot(folder, error);
  }
}

function absolute(cwd: string, out: string): string {
  const dir = resolve(cwd, out);
  refuseLink(dir);
  return dir;
}

/** A link may have been planted by whoever wrote the workspace: where it leads is not what the caller named. */
export function refuseLink(path: string): void {
  const stat = attempt(path, () => lstatSync(path, { throwIfNoEntry: false }));
  if (!stat || stat.isDirectory()) return;
  const what = stat.isSymbolicLink() ? 'a symbolic link' : 'not a folder';
  throw new UsageError(`cannot write the run folder ${path}: it is ${what}; name a folder that is new or empty`);
}

/** Names of an earlier run's files in a folder, or a UsageError when something else lies there. */
function earlierFiles(dir: string): string[] {
  const entries = attempt(dir, () => readdirSync(dir, { withFileTypes: true }));
  const strange = entries.find(
    (entry) => !(entry.name === OUTPUTS ? entry.isDirectory() : ours(entry.name) && entry.isFile()),
  );
  const names = entries.map((entry) => entry.name);
  if (strange) throw notOurs(dir, strange.isSymbolicLink() ? `the symbolic link ${strange.name}` : strange.name);
  const files = names.filter((name) => name !== LOCK_FILE);
  if (files[0] !== undefined && !wasRun(dir)) throw notOurs(dir, `${files[0]}, which no run of agent-run wrote`);
  return files;
}

function ours(name: string): boolean {
  const file = name.endsWith(SET_ASIDE) ? name.slice(0, -SET_ASIDE.length) : name;
  return name === LOCK_FILE || LEFTOVER.test(name) || RUN_FILES.some((known) => known === file);
}

function notOurs(dir: string, found: string): UsageError {
  return new UsageError(`the run folder ${dir} is not empty: it holds ${found}; name a new or empty folder with --out`);
}

/** True when the folder holds a transcript or a result that a run wrote. */
export function wasRun(dir: string): boolean {
  const transcript = head(join(dir, TRANSCRIPT));
  if (transcript !== undefined && /^\{"seq":1,"time":"[^"]*","run_id":"/.test(transcript)) return true;
  // A run that died before its first line wrote nothing else.
  if (transcript === '' && readdirSync(dir).every((name) => name === TRANSCRIPT || name === LOCK_FILE)) return true;
  const result = head(join(dir, 'result.json')) ?? '';
  return /"schema_version"\s*:/.test(result) && /"run_id"\s*:/.test(result);
}

/** The first bytes of a regular file, undefined for anything else. */
export function head(path: string): string | undefined {
  if (!isRealFile(path)) return undefined;
  const descriptor = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(4096);
    return bytes.toString('utf8', 0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}

export function isRealFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function attempt<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    // EACCES, EROFS, ENOTDIR, ENOSPC and their like: the caller chose the place.
    throw cannot(path, error);
  }
}

function cannot(path: string, error: unknown): UsageError {
  const text = `cannot write the run folder ${path}: ${errorText(error)}; name another with --out`;
  return new UsageError(text, { cause: error });
}
