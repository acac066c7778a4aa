import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasVariable, listProcesses, type ProcessEntry } from './process-list.ts';

/** Everything that one call started. */
export interface ProcessTree {
  /** The direct child, leader of its own group; absent when somebody else started it in our group. */
  root?: number;
  /** `NAME=value` in the environment of every descendant, also of those that left group and session. */
  marker: string;
  /** Name of the program that only holds the others in a sandbox: it dies without passing a TERM on. */
  wrapper?: string;
}

const POLL_MS = 25;
const KILL_WAIT_MS = 1000;

/** The live processes of a tree: by group, session, ancestry and marker. */
export function members(tree: ProcessTree): ProcessEntry[] {
  const all = listProcesses().filter((entry) => entry.pid !== process.pid);
  const inTree = new Set(tree.root === undefined ? [] : [tree.root]);
  for (let known = 0; known !== inTree.size;) {
    known = inTree.size;
    for (const entry of all) if (inTree.has(entry.parent)) inTree.add(entry.pid);
  }
  return all.filter(
    (entry) =>
      inTree.has(entry.pid) ||
      entry.group === tree.root ||
      entry.session === tree.root ||
      hasVariable(entry.pid, tree.marker),
  );
}

/** Ends a tree: TERM, then KILL for what is left after the grace; returns as soon as nothing lives. */
export async function endTree(tree: ProcessTree, grace_ms: number): Promise<void> {
  if (process.platform === 'win32') return void killTree(tree); // there is no TERM
  const alive = members(tree);
  if (alive.length === 0) return;
  terminate(tree, alive);
  if (await emptyWithin(tree, grace_ms)) return;
  const deadline = performance.now() + KILL_WAIT_MS;
  // Again and again: a process may fork between the list and the signal.
  while (killTree(tree) > 0 && performance.now() < deadline) await sleep(POLL_MS);
}

/** Sends KILL to what lives of a tree, at once and without waiting; returns how many there were. */
export function killTree(tree: ProcessTree): number {
  if (process.platform === 'win32') spawnSync('taskkill', ['/pid', String(tree.root), '/t', '/f']); // no /proc there
  const alive = members(tree);
  if (alive.length === 0) return 0;
  if (tree.root !== undefined) signal(-tree.root, 'SIGKILL'); // the group in one step, so that a fork bomb cannot outrun the list
  for (const entry of alive) signal(entry.pid, 'SIGKILL');
  return alive.length;
}

const held = new Set<ProcessTree>();

/** Kills the tree when the runner exits before the returned function was called: on a second signal, say. */
export function holdTree(tree: ProcessTree): () => void {
  if (held.size === 0 && !process.listeners('exit').includes(killHeld)) process.on('exit', killHeld);
  held.add(tree);
  return () => held.delete(tree);
}

function killHeld(): void {
  for (const tree of held) killTree(tree);
}

function terminate(tree: ProcessTree, alive: readonly ProcessEntry[]): void {
  // The names the kernel keeps are cut to 15 bytes.
  const spared = tree.wrapper?.slice(0, 15);
  for (const entry of alive) {
    if (entry.name === spared) continue;
    signal(entry.pid, 'SIGTERM');
    signal(entry.pid, 'SIGCONT'); // a stopped process takes no TERM
  }
}

async function emptyWithin(tree: ProcessTree, wait_ms: number): Promise<boolean> {
  const deadline = performance.now() + wait_ms;
  do {
    await sleep(POLL_MS);
    if (members(tree).length === 0) return true;
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
