import { listProcesses } from '../../src/workspace/process-list.ts';
import { readFileSync } from 'node:fs';

/** The command lines of live processes that hold a text. */
export function processesWith(text: string): string[] {
  return listProcesses().flatMap(({ pid }) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return pid !== process.pid && line.includes(text) ? [line] : [];
    } catch {
      return []; // gone meanwhile
    }
  });
}

/** A number of seconds that no other test sleeps for, so that its process can be found by it. */
export function uniqueSeconds(): string {
  return `3${Math.floor(Math.random() * 1e9)}`;
}
