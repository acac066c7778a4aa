import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { IoError } from '../../src/core/errors.ts';
import { createOutputStore as openStore } from '../../src/run/output-store.ts';
import { tempFolder } from '../helpers/temp.ts';

const text = (value: string): Uint8Array => Buffer.from(value);

/** A store that takes each output in pieces of a few bytes. */
function createOutputStore(...options: Parameters<typeof openStore>): (id: string, bytes: Uint8Array) => string {
  const open = openStore(...options);
  return (id, bytes) => {
    const sink = open(id);
    for (let at = 0; at < bytes.length; at += 7) sink.write(bytes.subarray(at, at + 7));
    return sink.end().path;
  };
}

test('whole outputs are numbered in the order they came, and are private', () => {
  const dir = join(tempFolder(), 'outputs');
  const keep = createOutputStore(dir);
  expect(keep('toolu_a', text('one'))).toBe('outputs/0001-toolu_a.txt');
  expect(keep('toolu_a', text('two'))).toBe('outputs/0002-toolu_a.txt');
  expect(readFileSync(join(dir, '0002-toolu_a.txt'), 'utf8')).toBe('two');
  expect(statSync(join(dir, '0001-toolu_a.txt')).mode & 0o777).toBe(0o600);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
});

test('an id cannot name a file outside the folder', () => {
  const dir = join(tempFolder(), 'outputs');
  expect(createOutputStore(dir)('../../x/y', text('1'))).toBe('outputs/0001--x-y.txt');
  expect(createOutputStore(dir)('', text('1'))).toBe('outputs/0002-call.txt');
});

test('a store that goes on counts on from the files that are there', () => {
  const dir = join(tempFolder(), 'outputs');
  createOutputStore(dir)('a', text('1'));
  expect(createOutputStore(dir)('b', text('2'))).toBe('outputs/0002-b.txt');
});

test('an output above the cap of a file is cut between characters and says so', () => {
  const dir = join(tempFolder(), 'outputs');
  const keep = createOutputStore(dir, { max_file_bytes: 4, max_all_bytes: 1000 });
  keep('a', text('abcäöü'));
  expect(readFileSync(join(dir, '0001-a.txt'), 'utf8')).toBe('abc\n[… 6 bytes left out: the run keeps no more]\n');
});

test('beyond the cap of a run nothing more is kept, also after a resume', () => {
  const dir = join(tempFolder(), 'outputs');
  const caps = { max_file_bytes: 100, max_all_bytes: 10 };
  createOutputStore(dir, caps)('a', text('0123456789'));
  createOutputStore(dir, caps)('b', text('more'));
  expect(readFileSync(join(dir, '0002-b.txt'), 'utf8')).toBe('\n[… 4 bytes left out: the run keeps no more]\n');
});

test('a folder that cannot be written is an io error that names the call', () => {
  const dir = join(tempFolder(), 'outputs');
  const keep = createOutputStore(dir);
  keep('a', text('1'));
  rmSync(dir, { recursive: true });
  writeFileSync(dir, '');
  expect(() => keep('b', text('2'))).toThrow(IoError);
  expect(() => keep('b', text('2'))).toThrow(/whole output of b/);
  expect(readdirSync(join(dir, '..'))).toEqual(['outputs']);
});
