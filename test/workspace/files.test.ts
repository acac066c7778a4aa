import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Files } from '../../src/core/ports.ts';
import { createFiles } from '../../src/workspace/files.ts';
import { tempFolder, tempTree, writeTree } from '../helpers/temp.ts';

async function readText(files: Files, path: string): Promise<string> {
  const resolved = await files.resolve(path, 'read');
  if (!resolved.ok) return `refused: ${resolved.reason}`;
  const read = await files.read(resolved.real, 1000);
  return read.ok ? Buffer.from(read.bytes).toString() : `failed: ${read.reason}`;
}

async function writeText(files: Files, path: string, text: string): Promise<string> {
  const resolved = await files.resolve(path, 'write');
  if (!resolved.ok) return `refused: ${resolved.reason}`;
  const written = await files.write(resolved.real, Buffer.from(text));
  return written.ok ? (written.created ? 'created' : 'replaced') : `failed: ${written.reason}`;
}

describe('reading', () => {
  test.each([
    ['file-19: a CJK name', '文件.md', '内容'],
    ['file-21: dots inside names', 'docs/..notes/a..b.md', 'ok'],
    ['a path with dots that stays inside', 'docs/../a.txt', 'a'],
  ])('%s is an ordinary file', async (_name, path, text) => {
    const files = await createFiles(tempTree({ '文件.md': '内容', 'docs/..notes/a..b.md': 'ok', 'a.txt': 'a' }));
    expect(await readText(files, path)).toBe(text);
  });

  test('file-20: a link to a file inside is followed and named by its real path', async () => {
    const root = tempTree({ 'docs/v2.md': 'v2' });
    symlinkSync('v2.md', join(root, 'docs/current.md'));
    const files = await createFiles(root);
    expect(await files.resolve('docs/current.md', 'read')).toMatchObject({ ok: true, path: 'docs/v2.md' });
    expect(await readText(files, 'docs/current.md')).toBe('v2');
  });

  test('an absolute path inside is taken, also through a link to the workspace', async () => {
    const root = tempTree({ 'a.txt': 'a' });
    const other = join(tempFolder(), 'link');
    symlinkSync(root, other);
    const files = await createFiles(other);
    expect(files.root).toBe(root);
    expect(await readText(files, join(root, 'a.txt'))).toBe('a');
    expect(await readText(files, join(other, 'a.txt'))).toBe('a');
  });

  test('file-02, -03, -04: nothing outside is read: parents, siblings with the same prefix, links', async () => {
    const parent = tempTree({ 'ws/a.txt': 'a', 'ws-secrets/key.txt': 'secret', 'outside.txt': 'secret' });
    const root = join(parent, 'ws');
    symlinkSync(join(parent, 'outside.txt'), join(root, 'link.md'));
    const files = await createFiles(root);
    for (const path of ['../outside.txt', `${root}-secrets/key.txt`, 'link.md', '../no-such-file']) {
      expect(await readText(files, path)).toMatch(/^refused: .*outside the workspace/);
    }
  });

  test('file-01, -06: system folders and devices are refused, also through a link', async () => {
    const root = tempFolder();
    symlinkSync('/dev/zero', join(root, 'zero'));
    symlinkSync('/proc/self', join(root, 'self'));
    const files = await createFiles(root);
    for (const path of ['/proc/self/environ', 'zero', 'self/environ', '/dev/stdin']) {
      expect(await readText(files, path)).toMatch(/^refused/);
    }
    const everything = await createFiles('/');
    expect(await readText(everything, 'proc/self/environ')).toContain('system folders');
  });

  test('file-05: a named pipe, a socket and a folder are refused at once', async () => {
    const root = tempTree({ 'dir/a': '' });
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const files = await createFiles(root);
    expect(await readText(files, 'pipe')).toContain('it is a named pipe');
    expect(await files.read(join(root, 'pipe'), 10)).toMatchObject({ ok: false });
    expect(await readText(files, 'dir')).toContain('it is a folder');
    expect(await readText(files, '.')).toContain('it is a folder');
  });

  test('file-07: of a sparse file of 2 GB only the asked bytes are read', async () => {
    const root = tempTree({ 'big.bin': '' });
    truncateSync(join(root, 'big.bin'), 2 ** 31);
    const files = await createFiles(root);
    const before = process.memoryUsage().rss;
    const read = await files.read(join(root, 'big.bin'), 1000);
    expect(read).toMatchObject({ ok: true, size: 2 ** 31 });
    expect(read.ok && read.bytes.length).toBe(1000);
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
  });

  test('file-13: NUL, lone surrogates, empty and endless paths are refused', async () => {
    const files = await createFiles(tempFolder());
    for (const path of ['a\0.ts', '\ud800.ts', '', 'x'.repeat(5000), 'y'.repeat(300), 'a/'.repeat(2000)]) {
      expect((await files.resolve(path, 'read')).ok).toBe(false);
    }
  });

  test('a missing file, a file as folder and a link circle give a reason', async () => {
    const root = tempTree({ 'a.txt': '' });
    symlinkSync('loop', join(root, 'loop'));
    const files = await createFiles(root);
    expect(await readText(files, 'nope.txt')).toContain('"nope.txt": there is no such file');
    expect(await readText(files, 'a.txt/b')).toContain('not a folder');
    expect(await readText(files, 'loop')).toContain('circle');
  });

  test('T30: a folder swapped for a link after the check is not followed', async () => {
    const parent = tempTree({ 'ws/dir/a.txt': 'inside', 'out/a.txt': 'secret' });
    const files = await createFiles(join(parent, 'ws'));
    const resolved = await files.resolve('dir/a.txt', 'read');
    execFileSync('sh', ['-c', 'mv ws/dir ws/old && ln -s ../out ws/dir'], { cwd: parent });
    const real = resolved.ok ? resolved.real : '';
    expect(await files.read(real, 100)).toMatchObject({ ok: false });
    expect(await files.write(real, Buffer.from('x'))).toMatchObject({ ok: false });
    expect(readFileSync(join(parent, 'out/a.txt'), 'utf8')).toBe('secret');
  });
});

describe('writing', () => {
  test('file-22: missing folders are made, and a second write replaces', async () => {
    const root = tempFolder();
    const files = await createFiles(root);
    expect(await writeText(files, 'src/new/deep/file.ts', 'export {};\n')).toBe('created');
    expect(await writeText(files, 'src/new/deep/file.ts', 'two')).toBe('replaced');
    expect(readFileSync(join(root, 'src/new/deep/file.ts'), 'utf8')).toBe('two');
  });

  test('keeps the mode of an existing file and leaves no temporary file', async () => {
    const root = tempTree({ 'run.sh': '#!/bin/sh\n' });
    chmodSync(join(root, 'run.sh'), 0o755);
    const files = await createFiles(root);
    expect(await writeText(files, 'run.sh', 'new')).toBe('replaced');
    expect(statSync(join(root, 'run.sh')).mode & 0o777).toBe(0o755);
    expect((await files.list(root, { limit: 10 })).files).toEqual(['run.sh']);
  });

  test('B199, B201: bytes are written as they are', async () => {
    const root = tempFolder();
    const files = await createFiles(root);
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0xa9, 0x00, 0x0d, 0x0a]);
    const resolved = await files.resolve('cp1252.txt', 'write');
    expect(resolved.ok && (await files.write(resolved.real, bytes)).ok).toBe(true);
    expect(readFileSync(join(root, 'cp1252.txt'))).toEqual(bytes);
  });

  test('file-10, -11: no link leads a write outside, dangling or not', async () => {
    const parent = tempTree({ 'ws/a': '', 'out/b': '' });
    const root = join(parent, 'ws');
    symlinkSync('../out', join(root, 'out'));
    symlinkSync('../out/created.txt', join(root, 'dangling.txt'));
    symlinkSync('nowhere', join(root, 'inner'));
    const files = await createFiles(root);
    for (const path of ['out/new.txt', 'out/deep/new.txt', 'dangling.txt', 'inner', 'inner/x']) {
      expect(await writeText(files, path, 'x')).toMatch(/^refused/);
    }
    expect(existsSync(join(parent, 'out/new.txt')) || existsSync(join(parent, 'out/created.txt'))).toBe(false);
  });

  test('a folder, a pipe and a name that ends in "/" are no targets', async () => {
    const root = tempTree({ 'dir/a': '' });
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const files = await createFiles(root);
    for (const path of ['dir', 'pipe', 'new/', 'dir/a/b', '.']) {
      expect(await writeText(files, path, 'x')).toMatch(/^refused/);
    }
    expect(await files.write(join(root, 'pipe'), Buffer.from('x'))).toMatchObject({ ok: false });
  });
});

describe('closed places', () => {
  const NAMES = ['.git', '.GIT', '.Git', '.g\u200cit', '.git.', '.git ', 'git~1', 'GIT~1', '．ｇｉｔ', '.git::$INDEX'];

  test.each(NAMES)('file-08, -09: nothing below %j is read or written', async (name) => {
    const root = tempTree({ '.git/config': 'secret', 'sub/x': '' });
    const files = await createFiles(root);
    expect(await readText(files, `${name}/config`)).toMatch(/^refused/);
    expect(await writeText(files, `sub/${name}/config`, '[core]')).toMatch(/^refused/);
    expect(await writeText(files, `sub/${name}`, '[core]')).toMatch(/^refused/);
  });

  test('a link with an innocent name does not open .git', async () => {
    const root = tempTree({ '.git/config': 'secret' });
    symlinkSync('.git', join(root, 'docs'));
    const files = await createFiles(root);
    expect(await readText(files, 'docs/config')).toMatch(/^refused/);
    expect(await writeText(files, 'docs/hooks/pre-push', 'x')).toMatch(/^refused/);
    expect(await files.read(join(root, '.git/config'), 10)).toMatchObject({ ok: false });
  });

  test('file-24: names that only start like it stay open', async () => {
    const files = await createFiles(tempFolder());
    for (const path of ['.gitignore', '.github/x.yml', 'git', 'a.git', '.gitkeep', 'git~x']) {
      expect(await writeText(files, path, 'dist\n')).toBe('created');
    }
  });

  test('the run folder is neither read, written nor listed, even before it exists', async () => {
    const root = tempTree({ 'a.txt': '' });
    const run = join(root, 'runs/1');
    const files = await createFiles(root, { hidden: [run] });
    writeTree(run, { 'result.json': '{}' });
    symlinkSync('runs/1', join(root, 'link'));
    for (const path of ['runs/1/result.json', 'link/result.json', 'runs/1/new.json']) {
      expect(await readText(files, path)).toMatch(/^refused/);
      expect(await writeText(files, path, 'x')).toMatch(/^refused/);
    }
    expect((await files.list(root, { limit: 10 })).files).toEqual(['a.txt']);
    expect(await files.resolve('runs/1', 'list')).toMatchObject({ ok: false });
  });

  test('the task file is read but not written', async () => {
    const root = tempTree({ 'task.json': '{}' });
    const files = await createFiles(root, { read_only: [join(root, 'task.json')] });
    expect(await readText(files, 'task.json')).toBe('{}');
    expect(await writeText(files, 'task.json', 'x')).toMatch(/^refused/);
  });

  test('a workspace that is no folder is a usage error', async () => {
    const root = tempTree({ 'a.txt': '' });
    mkdirSync(join(root, 'dir'));
    await expect(createFiles(join(root, 'a.txt'))).rejects.toThrow(/no folder.*--workspace/);
    await expect(createFiles(join(root, 'nope'))).rejects.toThrow(/workspace .*nope/);
  });
});
