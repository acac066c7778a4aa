import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readRun, writeTask, type Played, type Start } from './play.ts';
import type { Fixture } from './fixture.ts';

const POLL_MS = 20;

/** Runs a task with the command line as a process of its own; `wrapper` is put before it. */
export async function playCli(
  fixture: Fixture,
  start: Start & { cli: string; wrapper?: readonly string[] },
): Promise<Played> {
  const began = performance.now();
  const file = writeTask(fixture, start);
  const flags = Object.entries({ workspace: fixture.workspace, out: fixture.run_dir, verbose: true, ...start.flags });
  const options = flags.flatMap(([name, value]) => (value === true ? [`--${name}`] : [`--${name}`, String(value)]));
  const [program = process.execPath, ...args] = [
    ...(start.wrapper ?? []),
    process.execPath,
    start.cli,
    file,
    ...options,
  ];
  const env = { ...fixture.env, ...start.env };
  const child = spawn(program, args, { cwd: fixture.base, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  }
  let peak_mb = 0;
  const timer = setInterval(() => {
    peak_mb = Math.max(peak_mb, peakOf(child.pid));
  }, POLL_MS);
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve(status ?? -1));
  });
  clearInterval(timer);
  const refused = code === 2 || text.stderr.includes('sandbox_unavailable') ? text.stderr : undefined;
  const ms = performance.now() - began;
  return { exit_code: code, refused, ...readRun(fixture.run_dir), stdout: text.stdout, log: text.stderr, ms, peak_mb };
}

/** The high-water mark of a process's resident memory in MB, 0 when it is gone. */
function peakOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0; // gone meanwhile
  }
}
