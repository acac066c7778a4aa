import { isAbsolute, relative } from 'node:path';

/** Where a run works and whether it may change anything there. */
export interface Lane {
  /** Real path. */
  workspace: string;
  effects: boolean;
}

/** Runs with effects have their workspace for themselves; those that only read share it. A folder inside another is the same place. */
export class Lanes {
  private readonly taken = new Set<Lane>();

  isFree(lane: Lane): boolean {
    return [...this.taken].every((other) => (!other.effects && !lane.effects) || !overlap(other, lane));
  }

  take(lane: Lane): void {
    this.taken.add(lane);
  }

  release(lane: Lane): void {
    this.taken.delete(lane);
  }
}

function overlap(one: Lane, other: Lane): boolean {
  return isInside(one.workspace, other.workspace) || isInside(other.workspace, one.workspace);
}

function isInside(inner: string, outer: string): boolean {
  const way = relative(outer, inner);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}
