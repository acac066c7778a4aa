import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { createEditFile } from '../../src/tools/edit-file.ts';
import { call, filePlan, textOf, workspace } from './tool-context.ts';

async function edit(before: string | Uint8Array, input: JsonObject) {
  const at = await workspace({ 'a.txt': before });
  const output = await call(
    createEditFile(at.files),
    { path: 'a.txt', ...input },
    await filePlan(at, 'a.txt', 'write'),
  );
  return { status: output.status, text: textOf(output), file: readFileSync(join(at.root, 'a.txt'), 'utf8') };
}

describe('replacing text', () => {
  test('replaces the one place and names its line', async () => {
    expect(await edit('a\nb\nc\n', { old_str: 'b', new_str: 'B' })).toEqual({
      status: 'ok',
      text: 'changed a.txt (line 2)',
      file: 'a\nB\nc\n',
    });
  });

  test('deletes the text when new_str is absent', async () => {
    expect((await edit('a\nb\nc\n', { old_str: 'b\n' })).file).toBe('a\nc\n');
  });

  test('takes dollar patterns of the new text literally', async () => {
    const new_str = "$& $1 $$ $` $'";
    expect((await edit('cost PRICE\n', { old_str: 'PRICE', new_str })).file).toBe(`cost ${new_str}\n`);
    expect((await edit('P P\n', { old_str: 'P', new_str, replace_all: true })).file).toBe(`${new_str} ${new_str}\n`);
  });

  test('takes the old text literally, not as a pattern', async () => {
    expect(await edit('axb\n', { old_str: 'a.b', new_str: '' })).toMatchObject({ status: 'error', file: 'axb\n' });
    expect((await edit('f(x)\n', { old_str: '(x)', new_str: '(y)' })).file).toBe('f(y)\n');
  });

  test('refuses two matches with their number and lines, and none', async () => {
    expect(await edit('x\ny\nx\n', { old_str: 'x', new_str: 'z' })).toMatchObject({
      status: 'error',
      text: expect.stringContaining('occurs 2 times (lines 1, 3)'),
      file: 'x\ny\nx\n',
    });
    expect(await edit('x\n', { old_str: 'q', new_str: 'z' })).toMatchObject({
      status: 'error',
      text: expect.stringContaining('0 matches'),
    });
  });

  test('counts overlapping places, because each could be meant', async () => {
    expect(await edit('aaa', { old_str: 'aa', new_str: 'b' })).toMatchObject({
      status: 'error',
      text: expect.stringContaining('2 times'),
    });
  });

  test('replaces every place with replace_all', async () => {
    expect(await edit('x\ny x\n', { old_str: 'x', new_str: 'xx', replace_all: true })).toMatchObject({
      text: 'changed a.txt (2 places, first at line 1)',
      file: 'xx\ny xx\n',
    });
  });

  test('keeps byte order mark and line ends, though the model sees neither', async () => {
    expect((await edit('\uFEFFa\r\nb\r\nc\r\n', { old_str: 'a\nb', new_str: 'x\ny\nz' })).file).toBe(
      '\uFEFFx\r\ny\r\nz\r\nc\r\n',
    );
    expect((await edit('\uFEFFa\r\nb', { old_str: 'b', new_str: 'b\nc' })).file).toBe('\uFEFFa\r\nb\r\nc');
    expect((await edit('a\nb\r\nc\n', { old_str: 'a', new_str: 'a\nA' })).file).toBe('a\nA\nb\r\nc\n');
    expect((await edit('a\nb', { old_str: 'b', new_str: 'B' })).file).toBe('a\nB');
  });

  test('refuses a file that is not UTF-8 and leaves its bytes alone', async () => {
    const bytes = Buffer.from('caf\xe9\ncopyright \xa9\n', 'latin1');
    const at = await workspace();
    writeFileSync(join(at.root, 'a.txt'), bytes);
    const output = await call(
      createEditFile(at.files),
      { path: 'a.txt', old_str: 'copyright', new_str: 'x' },
      await filePlan(at, 'a.txt', 'write'),
    );
    expect(output).toMatchObject({
      status: 'error',
      content: [{ text: expect.stringContaining('not valid UTF-8 (line 1)') }],
    });
    expect(readFileSync(join(at.root, 'a.txt')).equals(bytes)).toBe(true);
  });

  test('keeps a replacement character that really stands in the file', async () => {
    expect((await edit('a\uFFFDb', { old_str: 'a', new_str: 'c' })).file).toBe('c\uFFFDb');
  });

  test('refuses a binary file', async () => {
    expect(await edit('a\0b', { old_str: 'a', new_str: 'c' })).toMatchObject({ status: 'error', file: 'a\0b' });
  });

  test.each<[JsonObject, string]>([
    [{ old_str: '', new_str: 'x' }, 'old_str is empty'],
    [{ old_str: 'a', new_str: 'a' }, 'nothing changed'],
    [{}, 'give old_str and new_str, or insert_line and insert_text'],
    [{ new_str: 'x' }, 'give old_str'],
    [{ insert_line: 1 }, 'insert_text'],
    [{ old_str: 'a', insert_line: 1, insert_text: 'x' }, 'not both'],
  ])('refuses %j', async (input, message) => {
    expect(await edit('a\n', input)).toMatchObject({
      status: 'error',
      text: expect.stringContaining(message),
      file: 'a\n',
    });
  });

  test('says that a missing file was not changed', async () => {
    const at = await workspace();
    const output = await call(
      createEditFile(at.files),
      { path: 'no', old_str: 'a' },
      await filePlan(at, 'no', 'write'),
    );
    expect(output).toMatchObject({ status: 'error', content: [{ text: 'no was not changed: there is no such file' }] });
  });
});

describe('text with the numbers of read_file', () => {
  test('is taken without them in old and new text', async () => {
    const result = await edit('a\nb\nc\n', { old_str: '     2\tb\n     3\tc', new_str: '     2\tB' });
    expect(result).toMatchObject({ status: 'ok', file: 'a\nB\n', text: expect.stringContaining('line numbers') });
    expect((await edit('a\nb\n', { insert_line: 1, insert_text: '     2\tx\n' })).file).toBe('a\nx\nb\n');
  });

  test('is taken as it is where the file really holds it', async () => {
    const result = await edit('     2\tb\n', { old_str: '     2\tb', new_str: '     3\tc' });
    expect(result).toEqual({ status: 'ok', text: 'changed a.txt (line 1)', file: '     3\tc\n' });
  });
});

describe('inserting lines', () => {
  test.each([
    ['a\nb\n', 0, 'x', 'x\na\nb\n'],
    ['a\nb\n', 1, 'x\n', 'a\nx\nb\n'],
    ['a\nb\n', 2, 'x', 'a\nb\nx\n'],
    ['a\nb', 2, 'x\n', 'a\nb\nx'],
    ['a\nb', 2, 'x', 'a\nb\nx'],
    ['', 0, 'x\n', 'x\n'],
    ['\uFEFFa\r\n', 0, 'x\ny', '\uFEFFx\r\ny\r\na\r\n'],
    ['a\r\nb', 2, 'x', 'a\r\nb\r\nx'],
  ])('into %j after line %i puts %j and gives %j', async (before, insert_line, insert_text, file) => {
    expect(await edit(before, { insert_line, insert_text })).toMatchObject({ status: 'ok', file });
  });

  test.each([-1, 3])('after line %i of two is refused with the range', async (insert_line) => {
    expect(await edit('a\nb\n', { insert_line, insert_text: 'x' })).toMatchObject({
      status: 'error',
      text: expect.stringContaining('0 to 2'),
    });
  });
});
