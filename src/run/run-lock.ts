import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { UsageError, errorText } from '../core/errors.ts';
import { isJsonObject, parseJson } from '../core/json.ts';

/** Stands in a run folder while its run lives: two runs never share a file. */
export const LOCK_FILE = '.lock';

// Several runs of one process (a batch) may not share a folder either, and their process id is the same.
const held = new Set<string>();

/** Takes the folder for this process; the answer gives it free. Throws UsageError while another run is alive in it. */
export function takeLock(dir: string, run_id: string, name = LOCK_FILE): () => void {
  const path = join(dir, name);
  if (held.has(path)) throw new UsageError(`another run of this process is writing ${dir}; name another folder`);
  const text = `${JSON.stringify({ pid: process.pid, born: bornAt(process.pid), host: hostname(), run_id })}\n`;
  if (!create(path, text)) {
    const holder = livingHolder(path);
    if (holder !== undefined) {
      throw new UsageError(
        `another run (process ${holder}) is writing ${dir}; wait for it, name another folder, or remove ${path} if it is gone`,
      );
    }
    rmSync(path, { force: true });
    if (!create(path, text)) throw new UsageError(`another run has just begun in ${dir}; name another folder`);
  }
  held.add(path);
  return () => {
    if (held.delete(path)) rmSync(path, { force: true });
  };
}

/** True while a run that is alive on this machine writes the folder. */
export function isLocked(dir: string): boolean {
  const path = join(dir, LOCK_FILE);
  return held.has(path) || (existsSync(path) && livingHolder(path) !== undefined);
}

function create(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    // EEXIST is the answer "taken"; anything else says that the folder cannot be written.
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw new UsageError(`cannot write ${path}: ${errorText(error)}; name another folder with --out`, { cause: error });
  }
}

/** The process that holds the lock; undefined when it is gone, is on another machine, or is this one. */
function livingHolder(path: string): number | undefined {
  const parsed = parseJson(readFileSync(path, 'utf8'));
  if (!parsed.ok || !isJsonObject(parsed.value)) return undefined;
  const { pid, born, host } = parsed.value;
  if (typeof pid !== 'number' || host !== hostname() || pid === process.pid) return undefined;
  // The same number with another birth is another process.
  if (born !== undefined && born !== bornAt(pid)) return undefined;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    // ESRCH: no such process. EPERM: it lives and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM' ? pid : undefined;
  }
}

/** When a process began, in ticks since the machine did; null where the system does not say, or there is no such process. */
function bornAt(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command's name may hold anything, so fields are counted from behind its closing bracket.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    // ENOENT: no such process, or a system without /proc.
    return null;
  }
}
