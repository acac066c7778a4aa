import { MOST_TASKS } from './cgroup.ts';
import type { Cgroup } from './cgroup.ts';

const IS_ROOT = process.getuid?.() === 0;
/** No file larger than 4 GiB (in blocks of 512 bytes), no memory dumps, and the kernel short of memory takes tools first. */
const LIMITS = 'echo 800 > /proc/self/oom_score_adj; ulimit -f 8388608; ulimit -c 0';

// Resource limits do not bind root: its processes enter control groups, or where there are none give way to the
// runner, which ends them when they are too many. All of it is inherited, so it is set outside, where the groups are.
const AS_ROOT = [
  `{ ${LIMITS}`,
  'held=; while [ "$1" != -- ]; do echo $$ > "$1" && held=1; shift; done',
  '[ -z "$held" ] && command -v nice > /dev/null; } 2>/dev/null && shift && exec nice -n 15 "$@"',
  'shift; exec "$@"',
].join('; ');

// A user's processes are counted for each namespace; outside, those of the whole machine would count.
const AS_USER = `{ ${LIMITS}; ulimit -p ${MOST_TASKS}; } 2>/dev/null; exec "$@"`;

/** The command with limits on what it and all it starts may take, for the inside of a sandbox. */
export function limitInside(argv: readonly string[]): string[] {
  return IS_ROOT ? [...argv] : ['/bin/sh', '-c', AS_USER, 'sh', ...argv];
}

/** The same for the program that is the sandbox. */
export function limitOutside(argv: readonly string[], cgroup: Cgroup | undefined): string[] {
  return IS_ROOT ? ['/bin/sh', '-c', AS_ROOT, 'sh', ...(cgroup?.entrances ?? []), '--', ...argv] : [...argv];
}
