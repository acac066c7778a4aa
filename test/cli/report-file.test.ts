import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refuseOddTarget, refuseSource, writeReport } from '../../src/cli/report-file.ts';
import { UsageError } from '../../src/core/errors.ts';
import { tempFolder } from '../helpers/temp.ts';

async function* pieces(): AsyncGenerator<string> {
  yield 'one\n';
  yield 'two\n';
}

test('a report replaces a file whole and leaves nothing beside it', async () => {
  const root = tempFolder();
  writeFileSync(join(root, 'r.md'), 'old');
  await writeReport(pieces(), join(root, 'r.md'));
  expect(readFileSync(join(root, 'r.md'), 'utf8')).toBe('one\ntwo\n');
  expect(readdirSync(root)).toEqual(['r.md']);
});

test.each<[string, (path: string) => void]>([
  ['a named pipe', (path) => execFileSync('mkfifo', [path])],
  ['a symbolic link', (path) => symlinkSync('/dev/null', path)],
  ['a folder', (path) => mkdirSync(path)],
])('%s is neither replaced nor written to', async (name, make) => {
  const root = tempFolder();
  const path = join(root, 'target');
  make(path);
  const before = lstatSync(path).ino;
  expect(() => refuseOddTarget(path)).toThrow(`--out: found ${name}, ${path}, expected the file to write`);
  await expect(writeReport(pieces(), path)).rejects.toThrow(UsageError);
  expect(lstatSync(path).ino).toBe(before);
  expect(readdirSync(root)).toEqual(['target']);
});

test('a device is refused before anything is read', () => {
  expect(() => refuseOddTarget('/dev/null')).toThrow('--out: found a device, /dev/null');
});

function refusal(name: string): string | null {
  const root = tempFolder();
  mkdirSync(join(root, 'run/outputs'), { recursive: true });
  mkdirSync(join(root, 'batch'));
  writeFileSync(join(root, 'batch/report.json'), '{}');
  symlinkSync('run', join(root, 'link'));
  try {
    refuseSource(join(root, name), [join(root, 'run'), join(root, 'batch/report.json')]);
    return null;
  } catch (error) {
    return error instanceof UsageError ? error.message : 'a bug';
  }
}

test.each(['run/result.json', 'run/new.html', 'run/outputs/x.txt', 'link/transcript.jsonl', 'batch/report.json'])(
  'a report is not written to %s, which it reads',
  (name) => {
    expect(refusal(name)).toMatch(/which the report is made of; name a file elsewhere$/);
  },
);

test.each(['batch/other.json', 'run.html', 'nowhere/x'])(
  'a report may be written to %s beside what it reads',
  (name) => {
    expect(refusal(name)).toBeNull();
  },
);
