import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import type { Files, Tool, ToolContext } from '../../src/core/ports.ts';
import { createReadFile, type ReadStored } from '../../src/tools/read-file.ts';
import { pdf, png } from '../helpers/media.ts';
import { call, filePlan, searchPlan, textOf, toolContext, workspace } from './tool-context.ts';

const NOTHING: ReadStored = () => Promise.resolve({ ok: false, reason: 'nothing is stored' });

function readFileTool(files: Files, readStored = NOTHING, shows = { images: true, pdfs: true }): Tool {
  return createReadFile({ files, readStored, shows });
}
type Content = string | Uint8Array;

async function read(content: Content, input: JsonObject = {}, changes: Partial<ToolContext> = {}) {
  const at = await workspace({ 'a.txt': content });
  const plan = await filePlan(at, 'a.txt', 'read');
  const output = await call(readFileTool(at.files), { path: 'a.txt', ...input }, plan, toolContext(changes).context);
  return { ...output, text: textOf(output) };
}

describe('reading a file', () => {
  test('shows each line after its number and a tab', async () => {
    expect(await read('one\n\n three\n')).toMatchObject({
      status: 'ok',
      text: '     1\tone\n     2\t\n     3\t three',
    });
  });

  test('leaves out byte order mark and carriage returns, and says when the file is empty', async () => {
    expect((await read('\uFEFFone\r\ntwo\r\n')).text).toBe('     1\tone\n     2\ttwo');
    expect((await read('')).text).toBe('(empty file)');
    expect((await read('\n')).text).toBe('     1\t');
  });

  test.each([
    [[2, 3], '     2\tb\n     3\tc'],
    [[3, -1], '     3\tc\n     4\td'],
    [[4, 99], '     4\td'],
    [[1, 1], '     1\ta'],
  ])('shows the lines of view_range %j', async (view_range, text) => {
    expect((await read('a\nb\nc\nd', { view_range })).text).toBe(text);
  });

  test.each([[[0, 2]], [[3, 2]], [[1]], [[1, 2, 3]], [[1, -2]], [[]]])(
    'refuses view_range %j and says what it must be',
    async (view_range) => {
      expect(await read('a\nb\n', { view_range })).toMatchObject({
        status: 'error',
        text: expect.stringContaining('[from, to]'),
      });
    },
  );

  test('says how many lines there are when the range starts behind them', async () => {
    expect(await read('a\nb\n', { view_range: [3, 4] })).toMatchObject({
      status: 'error',
      text: 'a.txt has 2 lines; view_range starts at 3',
    });
  });

  test('keeps the head of a large file and says how to go on, and the pages together are the file', async () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `line ${index + 1} ${'é'.repeat(index % 20)}`);
    const seen: string[] = [];
    for (let from = 1, pages = 0; from <= 1000 && pages < 100; pages += 1) {
      const page = await read(lines.join('\n'), { view_range: [from, -1] }, { max_output_bytes: 4000 });
      const shown = page.text.split('\n').filter((line) => line.startsWith(' '));
      expect(Buffer.byteLength(shown.join('\n'))).toBeLessThanOrEqual(4000);
      seen.push(...shown.map((line) => line.slice(7)));
      const next = /go on with view_range \[(\d+), -1\]/.exec(page.text)?.[1];
      if (next === undefined) break;
      from = Number(next);
    }
    expect(seen).toEqual(lines);
  });

  test('counts all bytes of the range, also those that are not shown', async () => {
    expect((await read('x'.repeat(100).concat('\n').repeat(100), {}, { max_output_bytes: 1000 })).bytes).toBe(
      100 * 108,
    );
  });

  test('cuts a line that alone is too long on a code point and names its size', async () => {
    const page = await read('😀'.repeat(2000), {}, { max_output_bytes: 1001 });
    expect(page.text).toContain('line 1 has 8007 bytes');
    expect(page.text.isWellFormed()).toBe(true);
    expect(page.text).not.toContain('\uFFFD');
  });

  test('shows an image and a PDF as they are, whatever their names', async () => {
    const image = png(4, 3);
    expect(await read(image)).toMatchObject({
      status: 'ok',
      content: [{ type: 'image', source: { media_type: 'image/png', data: image.toString('base64') } }],
      bytes: image.length,
    });
    expect((await read(pdf(2))).content).toMatchObject([{ type: 'document', pages: 2 }]);
  });

  test.each<[string, Content, string]>([
    ['a PNG image', Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1'), 'a PNG image'],
    ['a JPEG image', Buffer.from('\xff\xd8\xff\xe0\0\x10JFIF', 'latin1'), 'a JPEG image'],
    ['a GIF image', 'GIF89a....', 'a GIF image'],
    ['a WebP image', Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1'), 'a WebP image'],
    ['a PDF document', '%PDF-1.7\n', 'a PDF document'],
    ['UTF-16 text', Buffer.from('\ufeffhello', 'utf16le'), 'UTF-16 text'],
    ['other binary', 'ab\0cd', 'a binary file'],
  ])('refuses %s by its first bytes, not its name', async (_kind, content, message) => {
    const result = await read(content);
    expect(result).toMatchObject({ status: 'error', text: expect.stringContaining(message) });
    expect(result.content).toHaveLength(1);
  });

  test('shows bytes that are not UTF-8 as U+FFFD and says so', async () => {
    const result = await read(Buffer.from('caf\xe9\n', 'latin1'));
    expect(result).toMatchObject({
      status: 'ok',
      text: '     1\tcaf\uFFFD\n[the file is not valid UTF-8; such bytes are shown as U+FFFD]',
    });
  });

  test('redacts before it cuts, so that no part of a secret is shown', async () => {
    const redact = (text: string) => text.replaceAll('s3cret-value', '***');
    const result = await read(`${'x'.repeat(993)}s3cret-value`, {}, { max_output_bytes: 1003, redact });
    expect(result.text).not.toContain('s3');
  });

  test('says that a file is missing', async () => {
    const at = await workspace();
    const output = await call(readFileTool(at.files), { path: 'no.txt' }, await filePlan(at, 'no.txt', 'read'));
    expect(output).toMatchObject({ status: 'error', content: [{ text: 'no.txt: there is no such file' }] });
  });
});

describe('listing a folder', () => {
  test('names its files and folders, sorted, with what .gitignore names left out', async () => {
    const at = await workspace({
      'b.txt': '',
      'src/x/y.ts': '',
      'src/a.ts': '',
      '.gitignore': 'out\n',
      'out/z': '',
      '.github/x.yml': '',
    });
    const tool = readFileTool(at.files);
    expect(textOf(await call(tool, { path: '.' }, await searchPlan(at)))).toBe('.github/\n.gitignore\nb.txt\nsrc/');
    expect(textOf(await call(tool, { path: 'src' }, await searchPlan(at, 'src')))).toBe('a.ts\nx/');
  });

  test('shows only what the rule admits', async () => {
    const at = await workspace({ 'b.txt': '', 'src/a.ts': '', 'src/gen/b.ts': '' });
    const tool = readFileTool(at.files);
    const plan = await searchPlan(at, '.', ['src/**', '!src/gen/**']);
    expect(textOf(await call(tool, { path: '.' }, plan))).toBe('src/');
    expect(
      textOf(
        await call(tool, { path: 'src' }, { ...plan, ...(await searchPlan(at, 'src', ['src/**', '!src/gen/**'])) }),
      ),
    ).toBe('a.ts');
  });

  test('follows a link to a folder and says when there is nothing', async () => {
    const at = await workspace({ 'src/a.ts': '', 'out/.gitignore': '*\n' });
    symlinkSync('src', join(at.root, 'link'));
    const tool = readFileTool(at.files);
    expect(textOf(await call(tool, { path: 'link' }, await searchPlan(at, 'link')))).toBe('a.ts');
    expect(textOf(await call(tool, { path: 'out' }, await searchPlan(at, 'out')))).toBe('(no files)');
  });
});

describe('reading a stored output', () => {
  const stored =
    (text: string): ReadStored =>
    (path, max_bytes) => {
      const bytes = Buffer.from(text);
      return Promise.resolve(
        path === 'outputs/1.txt'
          ? { ok: true, bytes: bytes.subarray(0, max_bytes), size: bytes.length }
          : { ok: false, reason: 'there is no such output' },
      );
    };

  test('pages it like a file', async () => {
    const { files } = await workspace();
    const tool = readFileTool(files, stored('a\nb\nc\n'));
    const plan = { kind: 'run_file', effect: 'read', path: 'outputs/1.txt' } as const;
    expect(textOf(await call(tool, { path: 'run:outputs/1.txt', view_range: [2, 2] }, plan))).toBe('     2\tb');
    const missing = await call(tool, { path: 'run:outputs/2.txt' }, { ...plan, path: 'outputs/2.txt' });
    expect(missing).toMatchObject({
      status: 'error',
      content: [{ text: 'run:outputs/2.txt: there is no such output' }],
    });
  });

  test('shows an image that was stored', async () => {
    const { files } = await workspace();
    const bytes = png(2, 2);
    const tool = readFileTool(files, () => Promise.resolve({ ok: true, bytes, size: bytes.length }));
    const plan = { kind: 'run_file', effect: 'read', path: 'outputs/1.txt' } as const;
    expect((await call(tool, { path: 'run:outputs/1.txt' }, plan)).content).toMatchObject([
      { type: 'image', width: 2 },
    ]);
  });

  test('wraps a long line, so that every part of it can be reached', async () => {
    const { files } = await workspace();
    const tool = readFileTool(files, stored(`${'x'.repeat(5000)}END`));
    const plan = { kind: 'run_file', effect: 'read', path: 'outputs/1.txt' } as const;
    expect(textOf(await call(tool, { path: 'run:outputs/1.txt', view_range: [3, -1] }, plan))).toBe(
      `     3\t${'x'.repeat(1000)}END`,
    );
  });
});
