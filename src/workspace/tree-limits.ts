import { readdirSync, readlinkSync } from 'node:fs';
import { totalmem } from 'node:os';
import { readProc } from './proc-file.ts';
import { hasVariable } from './process-list.ts';
import { ancestry, type ProcessTree } from './process-tree.ts';

/** What the processes of one call may take together. */
export interface TreeLimits {
  processes: number;
  memory_bytes: number;
}

/** Short, because a fork bomb doubles within some milliseconds; elsewhere a look costs a process. */
const POLL_MS = process.platform === 'linux' ? 25 : 1000;
const MEMORY_SHARE = 0.75;
/** Of the machine's processes, to tell how many are the call's: while all are looked at, they double. */
const SAMPLES = 64;

/** Far above what builds and tests need, and low enough that the runner can still act. */
export function defaultLimits(): TreeLimits {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return { processes: 1000, memory_bytes: memory * MEMORY_SHARE };
}

/** Looks at a tree while it runs; says once what it had too much of. Returns what ends the watch. */
export function watchTree(tree: ProcessTree, limits: TreeLimits, onExcess: (what: string) => void): () => void {
  const timer = setInterval(() => {
    const what = tooManyProcesses(tree, limits) ?? tooMuchMemory(tree, limits);
    if (what === undefined) return;
    clearInterval(timer);
    onExcess(what);
  }, POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function tooManyProcesses(tree: ProcessTree, { processes }: TreeLimits): string | undefined {
  const count = process.platform === 'linux' ? estimate(tree, processes) : ancestry(tree).length;
  return count > processes ? `more than ${processes} processes at once` : undefined;
}

/** How many processes a tree has, when it may be more than the limit; 0 otherwise. */
function estimate(tree: ProcessTree, limit: number): number {
  // Threads are counted here, too, so this says no for sure and yes by chance.
  const tasks = Number(/\/(\d+)/.exec(readProc('/proc/loadavg'))?.[1] ?? Infinity);
  if (tasks <= limit) return 0;
  const pids = readdirSync('/proc').filter((name) => /^\d/.test(name));
  if (pids.length <= limit) return 0;
  const step = pids.length / SAMPLES;
  const sample =
    step <= 1 ? pids : Array.from({ length: SAMPLES }, (_, at) => pids[Math.floor((at + Math.random()) * step)]);
  const own = sample.filter((pid) => pid !== undefined && isOwn(tree, Number(pid))).length;
  return (own / sample.length) * pids.length;
}

/** Whether a process belongs to a tree, as cheaply as can be told. */
function isOwn(tree: ProcessTree, pid: number): boolean {
  try {
    // A sandbox is the only other process namespace that we have the right to look at.
    if (tree.wrapper !== undefined) return readlinkSync(`/proc/${pid}/ns/pid`) !== readlinkSync('/proc/self/ns/pid');
    const stat = readProc(`/proc/${pid}/stat`);
    const [, , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(group) === tree.root || Number(session) === tree.root || hasVariable(pid, tree.marker);
  } catch {
    return false; // gone meanwhile, or of another user
  }
}

function tooMuchMemory(tree: ProcessTree, { memory_bytes }: TreeLimits): string | undefined {
  if (process.platform === 'linux' && usedMemory() <= memory_bytes) return undefined;
  const all = ancestry(tree);
  const sum = (sizes: number[]): number => sizes.reduce((total, size) => total + size, 0);
  // Libraries that many share are counted for each at first, so the sum is an upper bound.
  if (sum(all.map(({ rss_bytes }) => rss_bytes)) <= memory_bytes) return undefined;
  if (process.platform === 'linux' && sum(all.map(({ pid }) => ownBytes(pid))) <= memory_bytes) return undefined;
  return `more than ${Math.round(memory_bytes / 2 ** 20)} MiB of memory`;
}

/** Of the whole machine. */
function usedMemory(): number {
  const meminfo = readProc('/proc/meminfo');
  return (kilobytes(meminfo, 'MemTotal') - kilobytes(meminfo, 'MemAvailable')) * 1024;
}

/** Memory that no other process shares, but for shared memory itself. */
function ownBytes(pid: number): number {
  try {
    const status = readProc(`/proc/${pid}/status`);
    return (kilobytes(status, 'RssAnon') + kilobytes(status, 'RssShmem')) * 1024;
  } catch {
    return 0; // gone meanwhile
  }
}

function kilobytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
}
