import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createWriteFile } from '../../src/tools/write-file.ts';
import { call, filePlan, textOf, workspace } from './tool-context.ts';

async function write(before: Record<string, string>, path: string, file_text: string) {
  const at = await workspace(before);
  const output = await call(createWriteFile(at.files), { path, file_text }, await filePlan(at, path, 'write'));
  return { status: output.status, text: textOf(output), file: readFileSync(join(at.root, path), 'utf8') };
}

describe('writing a file', () => {
  test('creates it with its missing folders, exactly as given', async () => {
    expect(await write({}, 'src/new/deep/file.ts', 'export {};\n')).toEqual({
      status: 'ok',
      text: 'created src/new/deep/file.ts (11 bytes)',
      file: 'export {};\n',
    });
  });

  test.each(['', 'no newline', 'a\r\nb\r\n', '文件 😀\n', '$& $1\n'])('keeps the text %j as it is', async (text) => {
    expect((await write({}, 'a.txt', text)).file).toBe(text);
  });

  test('replaces a file and keeps its mode', async () => {
    const at = await workspace({ 'run.sh': 'old' });
    chmodSync(join(at.root, 'run.sh'), 0o755);
    const output = await call(
      createWriteFile(at.files),
      { path: 'run.sh', file_text: 'new' },
      await filePlan(at, 'run.sh', 'write'),
    );
    expect(textOf(output)).toBe('replaced run.sh (3 bytes)');
    expect(statSync(join(at.root, 'run.sh')).mode & 0o777).toBe(0o755);
  });

  test('keeps the byte order mark of an existing file, and never doubles it', async () => {
    expect((await write({ 'a.txt': '\uFEFFold' }, 'a.txt', 'new')).file).toBe('\uFEFFnew');
    expect((await write({ 'a.txt': '\uFEFFold' }, 'a.txt', '\uFEFFnew')).file).toBe('\uFEFFnew');
    expect((await write({ 'a.txt': 'old' }, 'a.txt', 'new')).file).toBe('new');
  });

  test('takes a text whose every line carries the numbers of read_file without them, and says so', async () => {
    const result = await write({}, 'a.txt', '     9\tone\n    10\t\ttwo\n');
    expect(result.file).toBe('one\n\ttwo\n');
    expect(result.text).toContain('line numbers');
  });

  test.each([
    '1\tone\n2\ttwo\n',
    '     1\tone\n     3\tthree\n',
    '     1\tone\nplain\n',
    '     1 one\n',
    '     x\ty\n',
    '       1\tone\n',
  ])('does not mistake %j for numbered lines', async (text) => {
    const result = await write({}, 'a.txt', text);
    expect(result.file).toBe(text);
    expect(result.text).not.toContain('line numbers');
  });

  test('answers with the reason when the file cannot be written', async () => {
    const at = await workspace({ 'dir/a': '' });
    const plan = { kind: 'file', effect: 'write', path: 'dir', real: join(at.root, 'dir') } as const;
    expect(await call(createWriteFile(at.files), { path: 'dir', file_text: 'x' }, plan)).toMatchObject({
      status: 'error',
    });
  });
});
