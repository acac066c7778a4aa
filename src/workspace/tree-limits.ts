import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { ancestry, type ProcessTree } from './process-tree.ts';

/** What the processes of one call may take together. */
export interface TreeLimits {
  processes: number;
  memory_bytes: number;
}

const POLL_MS = 50;
const MEMORY_SHARE = 0.75;

/** Far above what builds and tests need, and low enough that the runner can still act. */
export function defaultLimits(): TreeLimits {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return { processes: 1000, memory_bytes: memory * MEMORY_SHARE };
}

/** Looks at a tree while it runs; says once what it had too much of. Returns what ends the watch. */
export function watchTree(tree: ProcessTree, limits: TreeLimits, onExcess: (what: string) => void): () => void {
  const timer = setInterval(() => {
    const what = machineIsBusy(limits) ? excess(tree, limits) : undefined;
    if (what === undefined) return;
    clearInterval(timer);
    onExcess(what);
  }, POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** What a tree has too much of, if anything. */
export function excess(tree: ProcessTree, limits: TreeLimits): string | undefined {
  const all = ancestry(tree);
  if (all.length > limits.processes) return `more than ${limits.processes} processes at once`;
  const sum = (sizes: number[]): number => sizes.reduce((total, size) => total + size, 0);
  // Libraries that many share are counted for each at first, so the sum is an upper bound.
  if (sum(all.map(({ rss_bytes }) => rss_bytes)) <= limits.memory_bytes) return undefined;
  if (sum(all.map(({ pid }) => ownBytes(pid))) <= limits.memory_bytes) return undefined;
  return `more than ${Math.round(limits.memory_bytes / 2 ** 20)} MiB of memory`;
}

/** Two short reads that say whether a look at every process can find anything; true where they cannot tell. */
function machineIsBusy(limits: TreeLimits): boolean {
  try {
    const tasks = /\d+\/(\d+)/.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1];
    const meminfo = readFileSync('/proc/meminfo', 'latin1');
    const used = kilobytes(meminfo, 'MemTotal') - kilobytes(meminfo, 'MemAvailable');
    return Number(tasks ?? Infinity) > limits.processes || !(used * 1024 <= limits.memory_bytes);
  } catch {
    // ENOENT: macOS and Windows have no /proc.
    return true;
  }
}

/** Memory that no other process shares, but for shared memory itself. */
function ownBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return (kilobytes(status, 'RssAnon') + kilobytes(status, 'RssShmem')) * 1024;
  } catch {
    return 0; // gone meanwhile
  }
}

function kilobytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? NaN);
}
