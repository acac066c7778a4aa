import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createFiles } from '../../src/workspace/files.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';

async function list(root: string, patterns?: string[], folder = '.') {
  const files = await createFiles(root);
  return files.list(join(root, folder), { ...(patterns ? { patterns } : {}), limit: 1000 });
}

const empty = (paths: string[]) => tempTree(Object.fromEntries(paths.map((path) => [path, ''])));

describe('listing', () => {
  test('finds regular files, hidden ones too, sorted and relative to the workspace', async () => {
    const root = empty(['b.ts', 'src/a.ts', 'src/deep/c.md', '.github/workflows/ci.yml']);
    expect(await list(root)).toEqual({
      files: ['.github/workflows/ci.yml', 'b.ts', 'src/a.ts', 'src/deep/c.md'],
      more: false,
    });
    expect((await list(root, ['**/*.ts'])).files).toEqual(['b.ts', 'src/a.ts']);
    expect((await list(root, ['*.md', 'deep/*'], 'src')).files).toEqual(['src/deep/c.md']);
    expect((await list(root, undefined, 'src/a.ts')).files).toEqual(['src/a.ts']);
  });

  test('takes exclusions, alternatives, and names with brackets, groups and plus signs', async () => {
    const root = empty(['app/[id]/page.tsx', 'app/(shop)/page.tsx', 'c++/x.cc', 'a.js', 'a.ts', 'gen/a.ts']);
    expect((await list(root, ['!gen/**', '!app/**'])).files).toEqual(['a.js', 'a.ts', 'c++/x.cc']);
    expect((await list(root, ['*.{js,ts}'])).files).toEqual(['a.js', 'a.ts']);
    expect((await list(root, ['app/[id]/*'])).files).toEqual(['app/[id]/page.tsx']);
    expect((await list(root, ['app/(shop)/*', 'c++/*'])).files).toEqual(['app/(shop)/page.tsx', 'c++/x.cc']);
  });

  test('says when the limit left files out', async () => {
    const root = empty(['a', 'b', 'c']);
    const files = await createFiles(root);
    expect(await files.list(root, { limit: 2 })).toEqual({ files: ['a', 'b'], more: true });
    expect(await files.list(root, { limit: 3 })).toMatchObject({ more: false });
  });

  test('respects .gitignore files, nested ones and their exceptions', async () => {
    const root = tempTree({
      '.gitignore': 'node_modules\n*.log\r\nbuild/\n/only-root\n',
      'node_modules/x/index.js': '',
      'a.log': '',
      'only-root': '',
      'pkg/.gitignore': '!keep.log\ngenerated/*.ts\n!build\n',
      'pkg/keep.log': '',
      'pkg/other.log': '',
      'pkg/only-root': '',
      'pkg/generated/a.ts': '',
      'pkg/build/out.js': '',
      'build/out.js': '',
    });
    const expected = ['.gitignore', 'pkg/.gitignore', 'pkg/build/out.js', 'pkg/keep.log', 'pkg/only-root'];
    expect((await list(root)).files).toEqual(expected);
    execFileSync('git', ['init', '-q'], { cwd: root });
    const git = execFileSync('git', ['ls-files', '-o', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
    expect(git.trim().split('\n').sort()).toEqual(expected);
    expect((await list(root, ['node_modules/**'])).files).toEqual([]);
    expect((await list(root, ['**'], 'node_modules/x')).files).toEqual(['node_modules/x/index.js']);
    expect((await list(root, undefined, 'pkg')).files).toEqual(expected.slice(1));
  });

  test('shows no git folder, no pipe and no entry under other spellings of .git', async () => {
    const root = empty(['.git/config', 'sub/.GIT/config', 'a']);
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect((await list(root)).files).toEqual(['a']);
    expect((await list(root, ['.git/**', 'sub/.GIT/*'])).files).toEqual([]);
  });

  test('file-16: follows no link to a folder, also when the pattern begins with it', async () => {
    const root = empty(['dir/a.txt']);
    symlinkSync('.', join(root, 'loop'));
    symlinkSync('/', join(root, 'rootfs'));
    symlinkSync('dir', join(root, 'alias'));
    symlinkSync('dir/a.txt', join(root, 'file-link.txt'));
    symlinkSync('/etc/passwd', join(root, 'passwd.txt'));
    symlinkSync('nowhere', join(root, 'dangling.txt'));
    expect((await list(root, ['**/*.txt'])).files).toEqual(['dir/a.txt', 'file-link.txt']);
    expect((await list(root, ['rootfs/etc/*', 'rootfs/etc/passwd', 'alias/*', 'loop/dir/*'])).files).toEqual([]);
  });

  test.each(['../**/*.txt', '/etc/*', 'a/../../x', '{..,a}/x', 'a/{b,..}', '!../x', '\\.\\./x', 'C:/x', '', 'a\0b'])(
    'file-14: refuses the pattern %j',
    async (pattern) => {
      const listed = await list(empty(['a']), [pattern]);
      expect(listed).toMatchObject({ files: [], more: false });
      expect(listed.reason).toContain('pattern');
    },
  );

  test('file-15: bounds brace bombs, stars and catastrophic groups', async () => {
    const root = empty(['a'.repeat(200), `${'ab'.repeat(100)}.txt`]);
    const started = performance.now();
    expect((await list(root, ['{a,b}'.repeat(20)])).reason).toContain('alternatives');
    expect((await list(root, ['{a,aa}'.repeat(12)])).reason).toContain('alternatives');
    expect((await list(root, ['*a'.repeat(20)])).reason).toContain('"*"');
    expect((await list(root, ['**/a/'.repeat(10)])).reason).toContain('"**"');
    expect((await list(root, ['(a+)+$', '(a|aa)+b', '[a]+b', '{a,{a,a}+}+b'])).files).toEqual([]);
    expect((await list(root, ['x'.repeat(2000)])).reason).toContain('characters');
    expect(performance.now() - started).toBeLessThan(2000);
  });

  test('a hostile .gitignore costs bounded time', async () => {
    const root = tempTree({ ['a'.repeat(250)]: '', '.gitignore': `${'*a'.repeat(100)}b\n${'x'.repeat(5000)}\n` });
    const started = performance.now();
    expect((await list(root)).files).toHaveLength(2);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  test('goes no deeper than 100 folders and says that there is more', async () => {
    const root = tempFolder();
    mkdirSync(join(root, 'd/'.repeat(150)), { recursive: true });
    writeFileSync(join(root, 'd/'.repeat(150), 'deep'), '');
    writeFileSync(join(root, 'd/'.repeat(10), 'near'), '');
    const listed = await list(root);
    expect(listed).toEqual({ files: [`${'d/'.repeat(10)}near`], more: true });
  });

  test('B129: shows a name that is not UTF-8 escaped', async () => {
    const root = empty(['日本語.md']);
    writeFileSync(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9]), Buffer.from('.txt')]), '');
    expect((await list(root)).files).toEqual(['caf\\xe9.txt', '日本語.md']);
  });

  test('stops when it is cancelled, and says that files are missing', async () => {
    const root = empty(['a/b', 'c']);
    const files = await createFiles(root);
    const listed = await files.list(root, { limit: 10, signal: AbortSignal.abort() });
    expect(listed.more).toBe(true);
  });
});
