import { lstatSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { hostname as hostName } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/core/errors.ts';
import { createRunId, openRunFolder, reopenRunFolder } from '../../src/run/run-folder.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';
import type { RunFolder } from '../../src/run/run-folder.ts';

const RUN_ID = '20261130T114500Z-1-ab12cd';
const FIRST_LINE = `{"seq":1,"time":"2026-11-30T11:45:00.000Z","run_id":"${RUN_ID}","type":"run_start"}\n`;

function open(cwd: string, options: { out?: string; run_id?: string; name?: string } = {}): RunFolder {
  return openRunFolder({ cwd, name: 'pr-review', run_id: RUN_ID, ...options });
}

/** What went wrong, or '' when nothing did. */
function complaint(act: () => unknown): string {
  try {
    act();
    return '';
  } catch (error) {
    // The caller's mistake is the only kind expected here.
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

test('a run id is UTC time, attempt and random, and sorts by the second', () => {
  const now_ms = Date.parse('2026-11-30T11:45:00.123Z');
  expect(createRunId({ now_ms, attempt: 2, random: () => 0.5 })).toBe('20261130T114500Z-2-800000');
  expect(createRunId({ now_ms, attempt: 1, random: () => 0 })).toBe('20261130T114500Z-1-000000');
});

describe('without --out', () => {
  test('a run gets a folder of its own that git does not see', () => {
    const cwd = tempFolder();
    const folder = open(cwd);
    expect(folder.dir).toBe(join(cwd, 'agent-run-results/pr-review', RUN_ID));
    expect(readFileSync(join(cwd, 'agent-run-results/.gitignore'), 'utf8')).toBe('*\n');
    expect(folder.cleaned).toEqual([]);
  });

  test('only its owner can look into the folder and the transcript', () => {
    const folder = open(tempFolder());
    expect(statSync(folder.dir).mode & 0o777).toBe(0o700);
    expect(statSync(folder.transcript).mode & 0o777).toBe(0o600);
  });

  test('a task name cannot lead out of the results folder', () => {
    const cwd = tempFolder();
    expect(open(cwd, { name: '../../etc/x' }).dir).toBe(join(cwd, 'agent-run-results/etc-x', RUN_ID));
    expect(open(cwd, { name: '..' }).dir).toBe(join(cwd, 'agent-run-results/task', RUN_ID));
  });

  test.each(['agent-run-results', 'agent-run-results/pr-review'])('a link planted as %s is not followed', (planted) => {
    const cwd = tempFolder();
    const elsewhere = tempFolder();
    mkdirSync(join(cwd, planted, '..'), { recursive: true });
    symlinkSync(elsewhere, join(cwd, planted));
    expect(complaint(() => open(cwd))).toContain('is a symbolic link');
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});

describe('with --out', () => {
  test('a missing folder is made, with its parents', () => {
    const cwd = tempFolder();
    expect(open(cwd, { out: 'a/b' }).dir).toBe(join(cwd, 'a/b'));
  });

  test("B155: an earlier run's files are replaced, half written ones too", () => {
    const files = {
      'transcript.jsonl': FIRST_LINE,
      'output.json': '1',
      'outputs/0001-a.txt': 'x',
      '.result.json.0a1b2c.tmp': '{',
    };
    const out = tempTree(files);
    const folder = open('/', { out });
    expect(folder.cleaned.toSorted()).toEqual([
      '.result.json.0a1b2c.tmp',
      'output.json',
      'outputs',
      'transcript.jsonl',
    ]);
    expect(readdirSync(out).toSorted()).toEqual(['.lock', 'transcript.jsonl']);
    expect(readFileSync(folder.transcript, 'utf8')).toBe('');
  });

  test('a folder with only the result of a config error counts as an earlier run', () => {
    const out = tempTree({ 'result.json': '{"schema_version":1,"run_id":"x"}' });
    expect(open('/', { out }).cleaned).toEqual(['result.json']);
  });

  test('a folder whose run died before its first line counts as an earlier run', () => {
    const out = tempTree({ 'transcript.jsonl': '' });
    expect(open('/', { out }).cleaned).toEqual(['transcript.jsonl']);
  });

  test.each([
    ['a file of somebody else beside a run', { 'transcript.jsonl': FIRST_LINE, 'notes.txt': 'mine' }, 'notes.txt'],
    [
      'files that only have our names',
      { 'output.json': '{}', 'result.json': '{"tests": 3}' },
      'no run of agent-run wrote',
    ],
    ['a transcript that is none', { 'transcript.jsonl': 'hello\n' }, 'no run of agent-run wrote'],
    [
      'an empty transcript beside an output',
      { 'transcript.jsonl': '', 'output.json': '1' },
      'no run of agent-run wrote',
    ],
    ['a folder with the name of a file of ours', { 'transcript.jsonl/x': '1' }, 'transcript.jsonl'],
  ])('%s is a usage error and nothing is removed', (_what, files, found) => {
    const out = tempTree(files);
    const before = readdirSync(out);
    expect(complaint(() => open('/', { out }))).toContain(found);
    expect(readdirSync(out)).toEqual(before);
  });

  test('a link planted under the name of a file of ours is neither followed nor removed', () => {
    const target = join(tempTree({ secret: 'precious' }), 'secret');
    const out = tempTree({ 'transcript.jsonl': FIRST_LINE });
    symlinkSync(target, join(out, 'result.json'));
    expect(complaint(() => open('/', { out }))).toContain('the symbolic link result.json');
    expect(readFileSync(target, 'utf8')).toBe('precious');
    expect(lstatSync(join(out, 'result.json')).isSymbolicLink()).toBe(true);
  });

  test('a link as the folder itself is a usage error', () => {
    const cwd = tempFolder();
    symlinkSync(tempFolder(), join(cwd, 'out'));
    expect(complaint(() => open(cwd, { out: 'out' }))).toContain('is a symbolic link');
  });

  test('a folder that cannot be written is a usage error naming it', () => {
    const cwd = tempTree({ file: '' });
    const message = complaint(() => open(cwd, { out: 'file/run' }));
    expect(message).toContain(`cannot write the run folder ${join(cwd, 'file/run')}`);
    expect(message).toContain('--out');
  });
});

test.skipIf(process.platform !== 'linux')('a folder below one that takes no folders is refused at once', () => {
  expect(complaint(() => open('/', { out: '/proc/agent-run/out' }))).toContain('/proc/agent-run/out');
});

describe('B159: two runs never share a folder', () => {
  test('a second run of the same process is refused until the first gives the folder free', () => {
    const out = tempFolder();
    const first = open('/', { out });
    expect(complaint(() => open('/', { out }))).toContain('another run of this process');
    first.release();
    expect(open('/', { out }).cleaned).toEqual(['transcript.jsonl']);
  });

  test('a run of another living process is named', () => {
    const lock = JSON.stringify({ pid: process.ppid, host: hostName(), run_id: RUN_ID });
    const out = tempTree({ 'transcript.jsonl': FIRST_LINE, '.lock': lock });
    expect(complaint(() => open('/', { out }))).toContain(`another run (process ${process.ppid})`);
    expect(readFileSync(join(out, 'transcript.jsonl'), 'utf8')).toBe(FIRST_LINE);
  });

  test.each([
    ['of a dead process', JSON.stringify({ pid: 2 ** 22 + 1, host: hostName(), run_id: RUN_ID })],
    [
      'of a process that ended and whose number another one has',
      JSON.stringify({ pid: process.ppid, born: '1', host: hostName(), run_id: RUN_ID }),
    ],
    ['of another machine', JSON.stringify({ pid: process.ppid, host: 'elsewhere', run_id: RUN_ID })],
    ['that is no lock', 'x'],
  ])('a lock %s is taken over', (_what, lock) => {
    const out = tempTree({ 'transcript.jsonl': FIRST_LINE, '.lock': lock });
    expect(open('/', { out }).cleaned).toEqual(['transcript.jsonl']);
  });
});

describe('resume', () => {
  test('goes on in the same folder and removes nothing', () => {
    const dir = tempTree({ 'transcript.jsonl': FIRST_LINE, 'output.json': '1' });
    const folder = reopenRunFolder(dir, RUN_ID);
    expect(readFileSync(folder.transcript, 'utf8')).toBe(FIRST_LINE);
    expect(readdirSync(dir)).toContain('output.json');
  });

  test('a folder without a transcript, or with a link as one, is a usage error', () => {
    const dir = tempFolder();
    expect(complaint(() => reopenRunFolder(dir, RUN_ID))).toContain('is no run folder');
    symlinkSync('/etc/hosts', join(dir, 'transcript.jsonl'));
    expect(complaint(() => reopenRunFolder(dir, RUN_ID))).toContain('is no run folder');
  });
});
