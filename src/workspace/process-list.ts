import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readProc } from './proc-file.ts';

/** One live process; zombies are left out, since nothing can be done about them. */
export interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  session: number;
  name: string;
  /** Resident memory, shared pages included. */
  rss_bytes: number;
  /** When it started, as the kernel counts; 0 where nobody says. */
  started: number;
}

/** The present moment as `started` counts it: hundredths of a second since the machine started. */
export function ticksNow(): number {
  if (process.platform !== 'linux') return 0;
  return Math.floor(Number(readProc('/proc/uptime').split(' ')[0]) * 100);
}

/** What the kernel counts memory in; 4 KiB but on some ARM machines, where the sum is then too low to matter. */
const PAGE_BYTES = 4096;

/** All processes that can be seen, from /proc or, elsewhere, from ps; those below `from` may be left out. */
export function listProcesses(from = 0): ProcessEntry[] {
  return process.platform === 'linux' ? listFromProc(from) : listFromPs();
}

/** Numbers of processes come round again after 32,768 at the earliest, and no machine starts that many in this time. */
const ROUND_TICKS = 100;

/**
 * The lowest number that a process may have which was started by the process `root`, itself started at `since`: a call
 * that has just begun need not look at every process of the machine. 0 when nothing is sure.
 */
export function lowestPid(root: number | undefined, since: number | undefined): number {
  if (process.platform !== 'linux' || root === undefined || since === undefined) return 0;
  if (ticksNow() - since > ROUND_TICKS) return 0;
  const last = Number(readProc('/proc/loadavg').trim().split(' ')[4]);
  return last >= root ? root : 0;
}

/** True when the process was started with this variable in its environment; false where that cannot be read. */
export function hasVariable(pid: number, assignment: string): boolean {
  try {
    const environment = readProc(`/proc/${pid}/environ`);
    // As Latin-1, like what is searched.
    const text = `${Buffer.from(assignment).toString('latin1')}\0`;
    return environment.startsWith(text) || environment.includes(`\0${text}`);
  } catch {
    return false; // gone meanwhile, or of another user
  }
}

function listFromProc(from: number): ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) >= from)
    .flatMap((name) => {
      try {
        return parseStat(readProc(`/proc/${name}/stat`));
      } catch {
        return []; // gone meanwhile
      }
    });
}

/** Places of fields behind the name. */
const STARTED_FIELD = 19;
const RSS_FIELD = 21;

// "12 (name) S 1 12 12 ...": the name may hold spaces and brackets, so the last bracket ends it.
function parseStat(stat: string): ProcessEntry[] {
  const close = stat.lastIndexOf(')');
  const fields = stat.slice(close + 2).split(' ');
  const [state, parent, group, session] = fields;
  if (state === 'Z' || state === 'X') return [];
  return [
    {
      pid: Number.parseInt(stat, 10),
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      name: stat.slice(stat.indexOf('(') + 1, close),
      rss_bytes: Number(fields[RSS_FIELD]) * PAGE_BYTES,
      started: Number(fields[STARTED_FIELD]),
    },
  ];
}

/** The same from ps(1), which knows no environment and, on macOS, no session. */
export function listFromPs(): ProcessEntry[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,rss=,stat=,comm='], { encoding: 'utf8' });
  return (stdout ?? '').split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    if (!match || match[5]?.startsWith('Z')) return [];
    const [, pid, parent, group, rss_kb, , name = ''] = match;
    const entry = { pid: Number(pid), parent: Number(parent), group: Number(group), session: Number(group), name };
    return [{ ...entry, rss_bytes: Number(rss_kb) * 1024, started: 0 }];
  });
}
