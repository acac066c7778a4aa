import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import type { ToolContext } from '../../src/core/ports.ts';
import { createGlob } from '../../src/tools/glob.ts';
import { createGrep } from '../../src/tools/grep.ts';
import { call, filePlan, searchPlan, textOf, toolContext, workspace } from './tool-context.ts';

type Tree = Record<string, string | Uint8Array>;
const TREE: Tree = {
  'README.md': 'hello\n',
  'src/app.ts': 'const a = 1;\nconst b = 2;\n',
  'src/x/b.ts': 'A = 1\n',
  '.github/x.yml': 'a: 1\n',
};

interface Asked {
  path?: string;
  within?: readonly string[];
  changes?: Partial<ToolContext>;
}

async function glob(pattern: string, tree: Tree = TREE, { path = '.', within = ['**'], changes = {} }: Asked = {}) {
  const at = await workspace(tree);
  const output = await call(
    createGlob(at.files),
    { pattern, path },
    await searchPlan(at, path, within),
    toolContext(changes).context,
  );
  return { status: output.status, text: textOf(output) };
}

async function grep(input: JsonObject, tree: Tree = TREE, { path = '.', within = ['**'], changes = {} }: Asked = {}) {
  const at = await workspace(tree);
  const output = await call(
    createGrep(at.files),
    { path, ...input },
    await searchPlan(at, path, within),
    toolContext(changes).context,
  );
  return { status: output.status, text: textOf(output) };
}

describe('glob', () => {
  test.each([
    ['**/*.ts', 'src/app.ts\nsrc/x/b.ts'],
    ['*.md', 'README.md'],
    ['src/*', 'src/app.ts'],
    ['**/*.{yml,md}', '.github/x.yml\nREADME.md'],
    ['./src/**', 'src/app.ts\nsrc/x/b.ts'],
    ['**/*.py', 'no file matches "**/*.py"'],
    ['!src/**', 'no file matches "!src/**"'],
  ])('%s finds %j', async (pattern, text) => {
    expect(await glob(pattern)).toEqual({ status: 'ok', text });
  });

  test('matches below the folder it is given and shows paths of the workspace', async () => {
    expect((await glob('*.ts', TREE, { path: 'src' })).text).toBe('src/app.ts');
  });

  test('shows only what the rule admits', async () => {
    expect((await glob('**', TREE, { within: ['src/**', '!src/x/**'] })).text).toBe('src/app.ts');
  });

  test('leaves out what .gitignore names and the git folder, and follows no link to a folder', async () => {
    const at = await workspace({ ...TREE, '.gitignore': 'src/x\n', '.git/config': '' });
    symlinkSync('/', join(at.root, 'rootfs'));
    symlinkSync('.', join(at.root, 'loop'));
    const output = await call(createGlob(at.files), { pattern: '**' }, await searchPlan(at));
    expect(textOf(output).split('\n')).toEqual(['.github/x.yml', '.gitignore', 'README.md', 'src/app.ts']);
  });

  test('answers a brace bomb and a pattern that backtracks in time', async () => {
    expect((await glob('{a,b}'.repeat(20))).status).toBe('ok');
    const slow = await glob(`${'*a'.repeat(30)}b`, { ['a'.repeat(200)]: '' });
    expect(slow).toMatchObject({ status: 'error', text: expect.stringContaining('takes too long') });
  });

  test('says that a path is no folder', async () => {
    const at = await workspace(TREE);
    const output = await call(
      createGlob(at.files),
      { pattern: '*', path: 'README.md' },
      await filePlan(at, 'README.md', 'read'),
    );
    expect(output).toMatchObject({
      status: 'error',
      content: [{ text: 'README.md is no folder; give a folder as "path"' }],
    });
  });

  test('keeps head and tail of a long list and stores the whole', async () => {
    const tree = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`f${String(index).padStart(3, '0')}.txt`, '']),
    );
    const at = await workspace(tree);
    const { context, stored } = toolContext({ max_output_bytes: 200 });
    const output = await call(createGlob(at.files), { pattern: '*' }, await searchPlan(at), context);
    expect(textOf(output)).toMatch(
      /^f000\.txt[^]*bytes left out; read_file run:outputs\/1\.txt pages the whole[^]*f299\.txt$/,
    );
    expect(stored(output.output_file ?? '').split('\n')).toHaveLength(300);
  });
});

describe('grep', () => {
  test.each<[JsonObject, string]>([
    [{ pattern: 'const' }, 'src/app.ts:1:const a = 1;\nsrc/app.ts:2:const b = 2;'],
    [{ pattern: '^a\\b', ignore_case: true }, '.github/x.yml:1:a: 1\nsrc/x/b.ts:1:A = 1'],
    [{ pattern: '(?i)HELLO' }, 'README.md:1:hello'],
    [{ pattern: '1', glob: '**/*.ts' }, 'src/app.ts:1:const a = 1;\nsrc/x/b.ts:1:A = 1'],
    [{ pattern: 'nothing here' }, 'no match'],
    [{ pattern: '--pre=./evil.sh' }, 'no match'],
    [{ pattern: '-v' }, 'no match'],
    [{ pattern: 'a\\-?', glob: '*.nothing' }, 'no match'],
  ])('%j finds %j', async (input, text) => {
    expect(await grep(input)).toEqual({ status: 'ok', text });
  });

  test('searches one file when the path names it', async () => {
    const at = await workspace(TREE);
    const output = await call(
      createGrep(at.files),
      { pattern: '1', path: 'src/app.ts' },
      await filePlan(at, 'src/app.ts', 'read'),
    );
    expect(textOf(output)).toBe('src/app.ts:1:const a = 1;');
    const missing = await call(createGrep(at.files), { pattern: '1', path: 'no' }, await filePlan(at, 'no', 'read'));
    expect(missing).toMatchObject({ status: 'error', content: [{ text: 'no: there is no such file' }] });
  });

  test('shows only what the rule admits', async () => {
    expect((await grep({ pattern: '1' }, TREE, { within: ['src/**', '!src/x/**'] })).text).toBe(
      'src/app.ts:1:const a = 1;',
    );
  });

  test('does not read through a link what the rule keeps closed', async () => {
    const at = await workspace(TREE);
    mkdirSync(join(at.root, 'docs'));
    symlinkSync('../README.md', join(at.root, 'docs/link.md'));
    const search = async (within: string[]) =>
      textOf(await call(createGrep(at.files), { pattern: 'hello' }, await searchPlan(at, '.', within)));
    expect(await search(['docs/**'])).toBe('no match');
    expect(await search(['docs/**', 'README.md'])).toContain('docs/link.md:1:hello');
  });

  test('ends a catastrophic pattern instead of hanging', async () => {
    const began = performance.now();
    const result = await grep({ pattern: '(a+)+$' }, { 'evil.txt': `${'a'.repeat(40)}!` });
    expect(result).toMatchObject({ status: 'error', text: expect.stringContaining('takes too long') });
    expect(performance.now() - began).toBeLessThan(3000);
  });

  test("ends with the call's own time and when the run is cut", async () => {
    const evil = { 'evil.txt': `${'a'.repeat(40)}!` };
    expect((await grep({ pattern: '(a+)+$' }, evil, { changes: { timeout_ms: 200 } })).status).toBe('timed_out');
    const cut = AbortSignal.abort(new Error('cancelled'));
    expect((await grep({ pattern: 'a' }, evil, { changes: { signal: cut } })).status).toBe('cancelled');
  });

  test.each(['(', '[a', 'a{2,1}', ''])('refuses the pattern %j with the reason', async (pattern) => {
    expect((await grep({ pattern })).status).toBe('error');
  });

  test('stops at max_results and says so', async () => {
    const tree = { 'a.txt': 'x\n'.repeat(50), 'b.txt': 'x\n' };
    expect((await grep({ pattern: 'x', max_results: 2 }, tree)).text).toBe(
      'a.txt:1:x\na.txt:2:x\n[only the first 2 matches; set max_results or narrow the search]',
    );
    expect((await grep({ pattern: 'x', max_results: 51 }, tree)).text).not.toContain('only the first');
    expect((await grep({ pattern: 'x', max_results: 0 }, tree)).status).toBe('error');
  });

  test('skips binary files silently and large ones with a word', async () => {
    const at = await workspace({ 'a.bin': 'x\0x', 'b.txt': 'x\n' });
    writeFileSync(join(at.root, 'big.txt'), 'x\n'.repeat(2_200_000));
    const output = await call(createGrep(at.files), { pattern: 'x' }, await searchPlan(at));
    expect(textOf(output)).toBe('b.txt:1:x\n[not searched, too large or unreadable: big.txt]');
  });

  test('shortens a long line on a code point, after redaction', async () => {
    const redact = (text: string) => text.replaceAll('s3cret-value', '***');
    const result = await grep(
      { pattern: 'x' },
      { 'a.txt': `${'x'.repeat(395)}s3cret-value${'😀'.repeat(300)}` },
      { changes: { redact } },
    );
    expect(result.text).not.toContain('s3cret');
    expect(result.text.isWellFormed()).toBe(true);
    expect(result.text.length).toBeLessThan(420);
  });

  test('reads CRLF files and byte order marks as lines without them', async () => {
    expect((await grep({ pattern: '^a$' }, { 'a.txt': '\uFEFFa\r\nb\r\n' })).text).toBe('a.txt:1:a');
  });
});
