import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasVariable, listProcesses, lowestPid, type ProcessEntry } from './process-list.ts';

/** Everything that one call started. */
export interface ProcessTree {
  /** The direct child, leader of its own group; absent when somebody else started it in our group. */
  root?: number;
  /** `NAME=value` in the environment of every descendant, also of those that left group and session. */
  marker: string;
  /** From `ticksNow` before the first of them started: what is older belongs to others. Absent: unknown. */
  since?: number;
  /** Name of the program that only holds the others in a sandbox: it dies without passing a TERM on. */
  wrapper?: string;
}

const POLL_MS = 25;
/** The first look comes soon: what was killed with its sandbox is gone in a moment. */
const FIRST_POLL_MS = 2;
const KILL_WAIT_MS = 1000;
/** How long a process that exits at once may wait for what it killed. */
const EXIT_WAIT_MS = 500;

/** The live processes of a tree: by group, session, ancestry and marker. */
export function members(tree: ProcessTree): ProcessEntry[] {
  const all = listProcesses(lowestPid(tree.root, tree.since));
  const found = new Set(related(tree, all));
  const { since = 0 } = tree;
  return all.filter(
    (entry) =>
      entry.pid !== process.pid &&
      (found.has(entry) || (entry.started >= since && hasVariable(entry.pid, tree.marker))),
  );
}

/** The same without those that only the marker tells, which costs a read for every process of the machine. */
export function ancestry(tree: ProcessTree): ProcessEntry[] {
  return related(tree, listProcesses(lowestPid(tree.root, tree.since)));
}

function related(tree: ProcessTree, all: readonly ProcessEntry[]): ProcessEntry[] {
  const inTree = new Set(tree.root === undefined ? [] : [tree.root]);
  for (let known = 0; known !== inTree.size;) {
    known = inTree.size;
    for (const entry of all) if (inTree.has(entry.parent)) inTree.add(entry.pid);
  }
  return all.filter(
    ({ pid, group, session }) =>
      pid !== process.pid && (inTree.has(pid) || group === tree.root || session === tree.root),
  );
}

/** Ends a tree: TERM, then KILL for what is left after the grace (0: at once); returns as soon as nothing lives. */
export async function endTree(tree: ProcessTree, grace_ms: number): Promise<void> {
  if (process.platform === 'win32') return void killTree(tree); // there is no TERM
  // Before any look at what there is: a fork bomb grows faster than a list of it.
  if (grace_ms === 0 && tree.root !== undefined) killGroup(tree.root);
  if (members(tree).length === 0) return;
  if (grace_ms > 0 && (await endPolitely(tree, grace_ms))) return;
  const deadline = performance.now() + KILL_WAIT_MS;
  // Again and again: a process may fork between the list and the signal.
  let wait_ms = FIRST_POLL_MS;
  while (killTree(tree) > 0 && performance.now() < deadline) {
    await sleep(wait_ms);
    wait_ms = Math.min(wait_ms * 2, POLL_MS);
  }
}

async function endPolitely(tree: ProcessTree, grace_ms: number): Promise<boolean> {
  const half = await endAllBut(tree, grace_ms / 2);
  terminate(tree, members(tree));
  return goneWithin(() => members(tree), half + grace_ms / 2);
}

/**
 * A sandbox dies with the first process inside, and with it all others in the middle of their clean-up. So that one is
 * held still until they are gone or the time is over; returns the time that is left.
 */
async function endAllBut(tree: ProcessTree, wait_ms: number): Promise<number> {
  const first = firstInside(tree);
  if (!first) return wait_ms;
  const began = performance.now();
  const others = (): ProcessEntry[] => inside(tree).filter(({ pid }) => pid !== first.pid);
  signal(first.pid, 'SIGSTOP');
  terminate(tree, others());
  await goneWithin(others, wait_ms);
  return Math.max(0, wait_ms - (performance.now() - began));
}

/** Whatever a sandbox holds, without the program that is the sandbox; nothing when there is none. */
function inside(tree: ProcessTree): ProcessEntry[] {
  return tree.wrapper === undefined ? [] : members(tree).filter((entry) => !isWrapper(tree, entry));
}

function firstInside(tree: ProcessTree): ProcessEntry | undefined {
  const all = members(tree);
  const wrappers = new Set(all.filter((entry) => isWrapper(tree, entry)).map(({ pid }) => pid));
  // An orphan has the same parent, but came later.
  return all.filter((entry) => wrappers.has(entry.parent) && !wrappers.has(entry.pid)).sort((a, b) => a.pid - b.pid)[0];
}

/** The names the kernel keeps are cut to 15 bytes. */
function isWrapper({ wrapper }: ProcessTree, { name }: ProcessEntry): boolean {
  return wrapper !== undefined && name === wrapper.slice(0, 15);
}

/** Sends KILL to what lives of a tree, at once and without waiting; returns how many there were. */
export function killTree(tree: ProcessTree): number {
  if (process.platform === 'win32') spawnSync('taskkill', ['/pid', String(tree.root), '/t', '/f']); // no /proc there
  const alive = members(tree);
  if (alive.length === 0) return 0;
  if (tree.root !== undefined) killGroup(tree.root);
  for (const entry of alive) signal(entry.pid, 'SIGKILL');
  return alive.length;
}

/** In one step; the program of a sandbox is the first of its group, and takes everything in it along. */
function killGroup(root: number): void {
  signal(-root, 'SIGKILL');
}

const held = new Map<ProcessTree, () => void>();

/** Kills the tree when the runner exits before the returned function was called: on a second signal, say. */
export function holdTree(tree: ProcessTree, whenGone: () => void = () => {}): () => void {
  if (held.size === 0 && !process.listeners('exit').includes(killHeld)) process.on('exit', killHeld);
  held.set(tree, whenGone);
  return () => held.delete(tree);
}

function killHeld(): void {
  const deadline = performance.now() + EXIT_WAIT_MS;
  for (const [tree, whenGone] of held) {
    // A killed process is still there for some milliseconds, and one that was forking may have a child by then.
    while (killTree(tree) > 0 && performance.now() < deadline)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    whenGone();
  }
}

function terminate(tree: ProcessTree, alive: readonly ProcessEntry[]): void {
  for (const entry of alive) {
    if (isWrapper(tree, entry)) continue;
    signal(entry.pid, 'SIGTERM');
    signal(entry.pid, 'SIGCONT'); // a stopped process takes no TERM
  }
}

async function goneWithin(alive: () => ProcessEntry[], wait_ms: number): Promise<boolean> {
  const deadline = performance.now() + wait_ms;
  let poll_ms = FIRST_POLL_MS;
  do {
    await sleep(poll_ms);
    poll_ms = Math.min(2 * poll_ms, POLL_MS);
    if (alive().length === 0) return true;
  } while (performance.now() < deadline);
  return false;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself, or belongs to another user.
  }
}
