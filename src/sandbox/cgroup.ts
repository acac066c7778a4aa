import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';
/** Threads count, too: enough for builds on many cores, far below what a fork bomb needs to starve the runner. */
export const MOST_TASKS = Math.max(2000, 64 * availableParallelism());
const MEMORY_SHARE = 0.8;

/** A control group of ours, one folder for each hierarchy that has a limit. */
export interface Cgroup {
  /** Files that take the number of a process to limit. */
  entrances: string[];
  dispose(): void;
}

interface Limit {
  controller: 'pids' | 'memory';
  file: { v1: string; v2: string };
  value: number;
}

const LIMITS: readonly Limit[] = [
  { controller: 'pids', file: { v1: 'pids.max', v2: 'pids.max' }, value: MOST_TASKS },
  {
    controller: 'memory',
    file: { v1: 'memory.limit_in_bytes', v2: 'memory.max' },
    value: Math.floor(totalmem() * MEMORY_SHARE),
  },
];

/** Limits that also hold for root, whom no resource limit binds; undefined where control groups are closed to us. */
export function createCgroup(name: string): Cgroup | undefined {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') return undefined;
  const made: string[] = [];
  for (const { folder, settings } of places(name)) {
    if (make(folder, settings)) made.push(folder);
  }
  if (made.length === 0) return undefined;
  return {
    entrances: made.map((folder) => join(folder, 'cgroup.procs')),
    dispose: () => made.forEach(remove),
  };
}

/** Removes a group that a killed run left; one that never was is no error. */
export function removeCgroup(name: string): void {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') return;
  for (const { folder } of places(name)) if (existsSync(folder)) remove(folder);
}

interface Place {
  folder: string;
  settings: [file: string, value: number][];
}

/** One folder with all limits in a unified hierarchy, else one for each. */
function places(name: string): Place[] {
  const offered = read(join(ROOT, 'cgroup.subtree_control')).split(/\s+/);
  const unified = LIMITS.filter(({ controller }) => offered.includes(controller));
  if (unified.length > 0)
    return [{ folder: join(ROOT, name), settings: unified.map(({ file, value }) => [file.v2, value]) }];
  const own = read('/proc/self/cgroup');
  return LIMITS.flatMap(({ controller, file, value }) => {
    const path = new RegExp(`^\\d+:(?:[\\w,]+,)?${controller}(?:,[\\w,]+)?:(/.*)$`, 'm').exec(own)?.[1];
    return path === undefined ? [] : [{ folder: join(ROOT, controller, path, name), settings: [[file.v1, value]] }];
  });
}

function make(folder: string, settings: Place['settings']): boolean {
  try {
    mkdirSync(folder);
  } catch {
    // ENOENT, EROFS, EACCES: a container that was given none.
    return false;
  }
  try {
    for (const [file, value] of settings) writeFileSync(join(folder, file), String(value));
    return true;
  } catch {
    // EINVAL, EACCES: a limit that cannot be set.
    remove(folder);
    return false;
  }
}

/** What was killed a moment ago still counts as a member. */
const MOST_TRIES = 20;

function remove(folder: string): void {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    try {
      return rmdirSync(folder);
    } catch {
      // EBUSY: a process is still ending; an empty group that stays does no harm.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // ENOENT: another kind of hierarchy, or none.
    return '';
  }
}
