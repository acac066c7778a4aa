import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { tempFolder } from '../helpers/temp.ts';
import { OUTPUT } from './kill-check.ts';
import { counts, eventsOf, RESUME_ARGV, RUN_ARGV, start, writeKillRun } from './kill-run.ts';
import type { Ended, KillRun } from './kill-run.ts';
import type { TestContext } from 'vitest';

vi.setConfig({ testTimeout: 60_000 });
const cli = useCli();

/** Puts a small disk where the run folder is; what cannot be mounted here skips the test. */
function mount(run_dir: string, options: string, { skip }: TestContext): void {
  mkdirSync(run_dir, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', run_dir], { stdio: 'pipe' });
  } catch {
    // Not root, or a container without the right to mount.
    skip('no right to mount a small disk');
  }
  onTestFinished(() => void execFileSync('umount', ['-l', run_dir]));
}

function remount(run_dir: string, options: string): void {
  execFileSync('mount', ['-o', `remount,${options}`, run_dir]);
}

/** All that was written is whole. */
function checkFiles({ run_dir, transcript }: KillRun, code: number | null): void {
  expect(existsSync(transcript) ? readFileSync(transcript, 'utf8') : '\n').toMatch(/(^|\n)$/);
  const names = readdirSync(run_dir);
  expect(names.filter((name) => name.endsWith('.tmp') || name === '.lock')).toEqual([]);
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    const value: unknown = JSON.parse(readFileSync(join(run_dir, name), 'utf8'));
    expect(value, name).toMatchObject(name === 'result.json' ? { exit_code: code } : {});
  }
}

/** One line says what happened, without a stack. */
function checkMessage({ stderr }: Ended, reason: string, words: RegExp): void {
  expect(stderr).not.toMatch(/^\s+at /m);
  const lines = stderr.trimEnd().split('\n');
  expect(lines.at(-1)).toMatch(new RegExp(`agent-run: ${reason} \\(exit \\d\\)`));
  expect(lines.at(-1)).toMatch(words);
}

describe('a disk that is full', () => {
  test.for([8, 16, 24, 40, 56])(
    'at %i KiB ends the run with 1 and nothing half, and it goes on once there is room',
    async (size, context) => {
      const run = writeKillRun(tempFolder());
      mount(run.run_dir, `size=${size}k`, context);
      const full = await start(cli.path(), run, RUN_ARGV);
      expect(full.code).toBe(1);
      checkMessage(full, 'io_error', /ENOSPC|no space/);
      checkFiles(run, 1);
      expect(full.stdout === '' || full.stdout === OUTPUT).toBe(true);
      const begun = eventsOf(run)[0]?.type === 'run_start';
      remount(run.run_dir, 'size=10m');
      const again = await start(cli.path(), run, begun ? RESUME_ARGV : RUN_ARGV);
      expect(again, again.stderr).toMatchObject({ code: 0, stdout: OUTPUT });
      expect(Math.max(...counts(run).values())).toBe(1);
    },
  );
});

test(
  'a disk that has just not the room for all files never makes a success that lacks one',
  { timeout: 120_000 },
  async (context) => {
    for (const size of [64, 68, 70, 72, 74, 76, 78]) {
      const run = writeKillRun(tempFolder());
      mount(run.run_dir, `size=${size}k`, context);
      const { code, stdout } = await start(cli.path(), run, RUN_ARGV);
      checkFiles(run, code);
      const names = readdirSync(run.run_dir);
      const all = ['result.json', 'output.json', 'usage.json', 'summary.md'].every((name) => names.includes(name));
      expect([code, stdout], `${size} KiB`).toEqual([all ? 0 : 1, OUTPUT]);
    }
  },
);

describe('a run folder', () => {
  test('that is read-only is refused before anything is spent', async (context) => {
    const run = writeKillRun(tempFolder());
    mount(run.run_dir, 'ro,size=1m', context);
    const refused = await start(cli.path(), run, RUN_ARGV);
    expect(refused.code).toBe(2);
    checkMessage(refused, 'config_error', /cannot write .*read-only file system.*--out/);
    expect(counts(run).size).toBe(0);
  });

  test('that is removed under a run makes no success of it', async () => {
    const run = writeKillRun(tempFolder());
    const ended = await start(cli.path(), run, RUN_ARGV, () => {
      const timer = setInterval(() => {
        if (counts(run).size < 5) return;
        clearInterval(timer);
        rmSync(run.run_dir, { recursive: true, force: true });
      }, 5);
    });
    expect(ended.code).toBe(1);
    checkMessage(ended, 'io_error', /result\.json|run folder|transcript/);
  });
});

describe('a reader of stdout', () => {
  test.each(['stream-json', 'json', 'text'])(
    'that leaves early makes an io_error of the run, with all its files (%s)',
    async (format) => {
      const run = writeKillRun(tempFolder());
      const argv = [...RUN_ARGV, '--format', format];
      const left = await start(cli.path(), run, argv, (_kill, child) => child.stdout?.destroy());
      expect(left.code).toBe(1);
      checkMessage(left, 'io_error', /stdout was closed/);
      checkFiles(run, 1);
      expect(readdirSync(run.run_dir)).toEqual(expect.arrayContaining(['output.json', 'result.json', 'usage.json']));
      expect([...counts(run).keys()]).toEqual(run.effects);
    },
  );
});
