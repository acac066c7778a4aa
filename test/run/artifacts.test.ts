import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeArtifacts } from '../../src/run/artifacts.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';

test('each file is written whole, private, and without leftovers', async () => {
  const dir = tempFolder();
  const written = await writeArtifacts(
    dir,
    { 'usage.json': () => '{}', 'output.md': async () => 'hi' },
    () => '{"a":1}',
  );
  expect(written).toEqual({ written: ['usage.json', 'output.md', 'result.json'], problems: [] });
  expect(readdirSync(dir).toSorted()).toEqual(['output.md', 'result.json', 'usage.json']);
  expect(statSync(join(dir, 'result.json')).mode & 0o777).toBe(0o600);
});

test('one file that cannot be written leaves the others and the result alone', async () => {
  const dir = tempFolder();
  mkdirSync(join(dir, 'usage.json')); // a folder in the way
  const contents = {
    'usage.json': () => '{}',
    'changes.patch': () => Promise.reject(new Error('git is gone')),
    'summary.md': () => 'done',
  };
  const written = await writeArtifacts(dir, contents, ({ problems }) => JSON.stringify({ problems }));
  expect(written.written).toEqual(['summary.md', 'result.json']);
  expect(written.problems).toEqual([
    expect.stringContaining('cannot write usage.json: '),
    'cannot write changes.patch: git is gone',
  ]);
  expect(JSON.parse(readFileSync(join(dir, 'result.json'), 'utf8'))).toEqual({ problems: written.problems });
});

test('the result is made last and counts itself among the files', async () => {
  const dir = tempFolder();
  await writeArtifacts(dir, { 'summary.md': () => 'x', 'output.json': () => null }, ({ written }) =>
    JSON.stringify(written),
  );
  expect(readFileSync(join(dir, 'result.json'), 'utf8')).toBe('["summary.md","result.json"]');
});

test('B155: a file of an earlier segment that this one does not have is removed', async () => {
  const dir = tempTree({ 'output.json': '"old"', 'result.json': '"old"' });
  await writeArtifacts(dir, { 'output.json': () => null }, () => '"new"');
  expect(readdirSync(dir)).toEqual(['result.json']);
  expect(readFileSync(join(dir, 'result.json'), 'utf8')).toBe('"new"');
});

test('a link at the name of a file is replaced, not followed', async () => {
  const target = join(tempTree({ target: 'precious' }), 'target');
  const dir = tempFolder();
  symlinkSync(target, join(dir, 'result.json'));
  await writeArtifacts(dir, {}, () => 'mine');
  expect(readFileSync(target, 'utf8')).toBe('precious');
  expect(readFileSync(join(dir, 'result.json'), 'utf8')).toBe('mine');
});

test('a folder that is gone is a problem for each file, never an exception', async () => {
  const dir = tempFolder();
  rmSync(dir, { recursive: true });
  const { written, problems } = await writeArtifacts(dir, { 'summary.md': () => 'x' }, () => '{}');
  expect(written).toEqual([]);
  expect(problems).toHaveLength(2);
});

test('a result that cannot replace what stands at its name leaves no half file', async () => {
  const dir = tempFolder();
  mkdirSync(join(dir, 'result.json'));
  writeFileSync(join(dir, 'result.json/keep'), '');
  const { problems } = await writeArtifacts(dir, {}, () => '{}');
  expect(problems).toEqual([expect.stringContaining('cannot write result.json')]);
  expect(readdirSync(dir)).toEqual(['result.json']);
});

test('lone surrogates become well-formed text and bytes stay as they are', async () => {
  const dir = tempFolder();
  const bytes = Uint8Array.of(0xff, 0x00, 0x0a);
  await writeArtifacts(dir, { 'output.md': () => 'a\ud800b', 'changes.patch': () => bytes }, () => '{}');
  expect(readFileSync(join(dir, 'output.md'), 'utf8')).toBe('a\ufffdb');
  expect([...readFileSync(join(dir, 'changes.patch'))]).toEqual([...bytes]);
});
