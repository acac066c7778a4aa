import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { tempFolder } from '../helpers/temp.ts';
import { killAndResume, OUTPUT } from './kill-check.ts';
import { counts, eventsOf, RESUME_ARGV, RUN_ARGV, start, writeKillRun } from './kill-run.ts';
import type { Ended, KillRun } from './kill-run.ts';

vi.setConfig({ testTimeout: 30_000 });
const cli = useCli();

/** In an effect: kills the process that the run folder belongs to when it is the turn of this effect. */
function killIn(name: string): string {
  return `if [ "$1" = ${name} ]; then kill -9 "$(sed 's/.*"pid":\\([0-9]*\\).*/\\1/' ../out/.lock)"; fi`;
}

async function finished(): Promise<KillRun> {
  const run = writeKillRun(tempFolder());
  expect((await start(cli.path(), run, RUN_ARGV)).code).toBe(0);
  return run;
}

async function resumed(run: KillRun): Promise<Ended> {
  return start(cli.path(), run, RESUME_ARGV);
}

describe('a run that is killed', () => {
  test.each(['e1', 'e4', 'e5'])(
    'between announcing %s and the effect never does it, and the model knows',
    async (name) => {
      const run = writeKillRun(tempFolder(), { before: `${killIn(name)}; [ "$1" != ${name} ] || exit 1` });
      expect(await killAndResume(cli.path(), run)).toMatchObject({ unknown: [name] });
      expect(counts(run).get(name)).toBeUndefined();
      expect(readFileSync(run.transcript, 'utf8')).toContain('whether it took effect is unknown');
    },
  );

  test.each(['e1', 'e4', 'e5'])(
    'between the effect %s and its record never does it again, and the model knows',
    async (name) => {
      const run = writeKillRun(tempFolder(), { after: killIn(name) });
      expect(await killAndResume(cli.path(), run)).toMatchObject({ unknown: [name] });
      expect(counts(run).get(name)).toBe(1);
    },
  );

  test('again and again, each time it goes on, still ends as the undisturbed one', async () => {
    const effects = ['e2', 'e7', 'e13'];
    const run = writeKillRun(tempFolder(), { after: effects.map(killIn).join('\n') });
    expect((await start(cli.path(), run, RUN_ARGV)).code).toBeNull();
    expect((await resumed(run)).code).toBeNull();
    expect((await resumed(run)).code).toBeNull();
    expect(await resumed(run)).toMatchObject({ code: 0, stdout: OUTPUT });
    expect([...counts(run).values()].every((times) => times === 1)).toBe(true);
    expect(eventsOf(run).filter(({ type }) => type === 'run_resume')).toHaveLength(3);
  });

  test('while it writes its files has them all after a resume, and nothing half', async () => {
    const run = await finished();
    for (const name of ['result.json', 'summary.md', 'output.json']) rmSync(join(run.run_dir, name));
    writeFileSync(join(run.run_dir, '.result.json.0a1b2c.tmp'), '{"schema_ver');
    expect(await resumed(run)).toMatchObject({ code: 0, stdout: OUTPUT });
    for (const name of ['result.json', 'summary.md', 'output.json'])
      expect(existsSync(join(run.run_dir, name))).toBe(true);
    expect(existsSync(join(run.run_dir, '.result.json.0a1b2c.tmp'))).toBe(false);
  });

  test('in the middle of a line loses that line only', async () => {
    const run = await finished();
    const lines = readFileSync(run.transcript, 'utf8').split('\n');
    writeFileSync(run.transcript, `${lines.slice(0, 30).join('\n')}\n`);
    appendFileSync(run.transcript, lines[30]?.slice(0, 40) ?? '');
    expect(await resumed(run)).toMatchObject({ code: 0, stdout: OUTPUT });
    const events = eventsOf(run);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  test('before its first line says that nothing was begun', async () => {
    const run = await finished();
    writeFileSync(run.transcript, '');
    const again = await resumed(run);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('nothing was begun in this run, so there is nothing to resume; run the task again');
    expect((await start(cli.path(), run, RUN_ARGV)).code).toBe(0);
  });
});
