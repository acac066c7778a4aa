import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextItem, ContextLimits } from '../../src/core/config.ts';
import { UsageError } from '../../src/core/errors.ts';
import { createContext } from '../../src/context/collect.ts';
import type { ContextSources } from '../../src/context/source.ts';
import { exec } from '../../src/workspace/exec.ts';
import { createFiles } from '../../src/workspace/files.ts';
import { PLAIN } from '../helpers/boundary.ts';
import { gitOn, gitRepo } from '../helpers/git-repo.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';

const LIMITS: ContextLimits = { max_size_bytes: 100_000, on_overflow: 'cut', when_empty: 'run' };
const SECRET = 'top-secret-value';

async function collect(root: string, items: ContextItem[], more: Partial<ContextSources> = {}) {
  const context = createContext({
    files: await createFiles(root),
    git: gitOn(root),
    exec,
    boundary: PLAIN,
    inputs: {},
    redact: (text) => text.replaceAll(SECRET, '***'),
    timeout_ms: 10_000,
    ...more,
  });
  return context(items, new AbortController().signal);
}

const diffItem = (limits: Partial<ContextLimits> = {}): ContextItem => ({
  kind: 'git_diff',
  base: 'HEAD~1',
  head: 'HEAD',
  paths: [],
  limits: { ...LIMITS, ...limits },
});
const filesItem = (paths: string[], limits: Partial<ContextLimits> = {}): ContextItem => ({
  kind: 'files',
  paths,
  limits: { ...LIMITS, ...limits },
});
const commandItem = (script: string, limits: Partial<ContextLimits> = {}): ContextItem => ({
  kind: 'command',
  argv: ['sh', '-c', script],
  limits: { ...LIMITS, ...limits },
});
const inputItem = (name: string, limits: Partial<ContextLimits> = {}): ContextItem => ({
  kind: 'input',
  name,
  limits: { ...LIMITS, ...limits },
});

describe('items from git', () => {
  test('are the diff and the log of a range', async () => {
    const repo = gitRepo({ 'a.txt': 'one\n' });
    repo.commit({ 'a.txt': 'two\n' }, 'Say two');
    const { parts, warnings } = await collect(repo.root, [
      diffItem(),
      { kind: 'git_log', base: 'HEAD~1', paths: [], limits: LIMITS },
    ]);
    expect(parts.map((part) => part.label)).toEqual(['git diff HEAD~1..HEAD', 'git log HEAD~1']);
    expect(parts[0]?.text).toContain('-one\n+two\n');
    expect(parts[1]?.text).toContain('Say two');
    expect(parts[0]).toMatchObject({ bytes: Buffer.byteLength(parts[0]?.text ?? ''), omitted_bytes: 0, notes: [] });
    expect(warnings).toEqual([]);
  });

  test('B125, B147: a cut diff of 350 files and 3 MB says how many files do not stand in it', async () => {
    const repo = gitRepo({ x: '' });
    const line = 'some words in a line of text\n';
    repo.commit(Object.fromEntries(Array.from({ length: 350 }, (_, at) => [`f/${at}.txt`, line.repeat(300)])));
    const { parts, warnings } = await collect(repo.root, [diffItem()]);
    const [part] = parts;
    expect(part?.bytes).toBeGreaterThan(3_000_000);
    expect(Buffer.byteLength(part?.text ?? '')).toBeLessThan(100_200);
    expect(part?.text).toContain(`[… ${part?.omitted_bytes} bytes left out …]`);
    const shown = part?.text.match(/^diff --git /gm)?.length ?? 0;
    const note = `${part?.omitted_bytes} of ${part?.bytes} bytes are left out (max_size 100000); 350 files changed, ${350 - shown} of them do not stand here`;
    expect(part?.notes).toEqual([note]);
    expect(warnings).toEqual([`context git diff HEAD~1..HEAD: ${note}`]);
  });

  test('B123: say that a shallow clone gives the plain difference, in the part and as a warning', async () => {
    const repo = gitRepo({ 'a.txt': 'a' });
    repo.git('checkout', '-q', '--orphan', 'other');
    repo.commit({ 'b.txt': 'b' });
    const root = tempFolder();
    execFileSync('git', ['clone', '-q', '--depth', '1', '--no-single-branch', `file://${repo.root}`, root]);
    const item: ContextItem = { kind: 'git_diff', base: 'origin/main', head: 'HEAD', paths: [], limits: LIMITS };
    const { parts, warnings } = await collect(root, [item]);
    expect(parts[0]?.notes).toEqual([expect.stringContaining('no common ancestor')]);
    expect(warnings).toEqual([expect.stringContaining('fetch-depth: 0')]);
  });

  test('that cannot be told are usage errors', async () => {
    const repo = gitRepo({ x: '' });
    await expect(collect(repo.root, [diffItem()])).rejects.toThrow(UsageError);
    await expect(collect(repo.root, [diffItem()])).rejects.toThrow('context git diff HEAD~1..HEAD: "HEAD~1" is not');
    await expect(collect(tempFolder(), [diffItem()])).rejects.toThrow('no git repository');
  });
});

describe('files', () => {
  test('come in the order of their paths, each with its name and size', async () => {
    const root = tempTree({ 'docs/style.md': 'style\n', 'src/b.ts': 'b\n', 'src/a.ts': 'a\n', 'src/x.bin': 'a\0b' });
    const { parts } = await collect(root, [filesItem(['src/**', 'docs/style.md'])]);
    expect(parts).toEqual([
      {
        label: 'files src/** docs/style.md',
        text: '--- docs/style.md (6 bytes) ---\nstyle\n\n--- src/a.ts (2 bytes) ---\na\n\n--- src/b.ts (2 bytes) ---\nb\n\n--- src/x.bin (3 bytes) ---\n(binary)\n',
        bytes: 136,
        omitted_bytes: 0,
        notes: [],
      },
    ]);
  });

  test('that are missing, closed or outside are usage errors; a glob without a match is empty', async () => {
    const root = tempTree({ 'dir/a': '', '.git/config': '' });
    for (const path of ['nope.md', 'dir', '../x', '.git/config', '/etc/passwd', '../**']) {
      await expect(collect(root, [filesItem([path])])).rejects.toThrow(/^context files: /);
    }
    expect((await collect(root, [filesItem(['*.md'])])).parts[0]).toMatchObject({ text: '', bytes: 0 });
  });

  test('that are huge or many are counted, not read', async () => {
    const root = tempTree({ 'a.log': 'some words\n'.repeat(300_000), 'b.log': 'y'.repeat(1000), 'c.log': 'z' });
    const { parts } = await collect(root, [filesItem(['*.log'], { max_size_bytes: 200 })]);
    expect(parts[0]?.bytes).toBeGreaterThanOrEqual(3_301_001);
    expect(parts[0]?.text).toContain('more were not read');
    expect(parts[0]?.text).toContain('[… 1000 more bytes of this file were not read …]');
    expect(parts[0]?.notes.at(-1)).toContain('3 files, 1 of them do not stand here');
  });

  test('that are not UTF-8 are noted', async () => {
    const root = tempTree({ 'a.txt': Buffer.from([0x63, 0xe9, 0x0a]) });
    const { parts } = await collect(root, [filesItem(['a.txt'])]);
    expect(parts[0]).toMatchObject({
      text: '--- a.txt (3 bytes) ---\nc\ufffd\n',
      notes: [expect.stringContaining('not UTF-8')],
    });
  });
});

describe('a command', () => {
  test('gives what it prints, run in the workspace', async () => {
    const root = tempFolder();
    const { parts } = await collect(root, [commandItem('pwd; echo problem >&2')]);
    expect(parts[0]).toMatchObject({ text: `${root}\nproblem\n`, label: 'command sh -c pwd; echo problem >&2' });
  });

  test('that fails is shown with its code and warned about, and never counts as empty', async () => {
    const { parts, skip, warnings } = await collect(tempFolder(), [commandItem('exit 3', { when_empty: 'skip' })]);
    expect(skip).toBeUndefined();
    expect(parts[0]?.notes).toEqual(['the command ended with 3']);
    expect(warnings).toEqual(['context command sh -c exit 3: the command ended with 3']);
  });

  test('that takes too long keeps what it had printed', async () => {
    const { parts } = await collect(tempFolder(), [commandItem('echo on; sleep 60')], { timeout_ms: 200 });
    expect(parts[0]).toMatchObject({ text: 'on\n', notes: [expect.stringContaining('200 ms')] });
  });

  test('that cannot start is a usage error', async () => {
    const item: ContextItem = { kind: 'command', argv: ['no-such-program'], limits: LIMITS };
    await expect(collect(tempFolder(), [item])).rejects.toThrow('no-such-program: command not found');
  });

  test('that floods is counted exactly', async () => {
    const item = commandItem('head -c 5000000 /dev/zero | tr "\\0" x', { max_size_bytes: 1000 });
    const { parts } = await collect(tempFolder(), [item]);
    expect(parts[0]?.text.length).toBeLessThan(1200);
    expect(parts[0]?.text).toContain('more were not read');
    expect(parts[0]?.omitted_bytes).toBeGreaterThan(4_990_000);
  });
});

describe('inputs and events', () => {
  const event = { pull_request: { title: 'Fix', body: null, labels: [{ name: 'bug' }], user: { id: 7 } }, action: '' };

  test('an input stands as it was given; an unknown one is a usage error', async () => {
    const { parts } = await collect(tempFolder(), [inputItem('ticket')], { inputs: { ticket: 'text' } });
    expect(parts).toEqual([{ label: 'input ticket', text: 'text', bytes: 4, omitted_bytes: 0, notes: [] }]);
    await expect(collect(tempFolder(), [inputItem('toString')])).rejects.toThrow('no such input');
  });

  test('fields of an event are read, missing ones noted', async () => {
    const event_path = join(tempTree({ 'event.json': JSON.stringify(event) }), 'event.json');
    const fields = ['pull_request.title', 'pull_request.body', 'pull_request.labels.0.name', 'pull_request.user'];
    const item: ContextItem = { kind: 'github_event', fields: [...fields, 'action', 'constructor'], limits: LIMITS };
    const { parts } = await collect(tempFolder(), [item], { event_path });
    expect(parts[0]?.text).toBe(
      'pull_request.title:\nFix\n\npull_request.labels.0.name:\nbug\n\npull_request.user:\n{"id":7}\n',
    );
    expect(parts[0]?.notes).toEqual(['the event has no pull_request.body, constructor']);
  });

  test('an event that is not there or no JSON is a usage error', async () => {
    const item: ContextItem = { kind: 'github_event', fields: ['action'], limits: LIMITS };
    const root = tempTree({ 'bad.json': '{"a":' });
    await expect(collect(root, [item])).rejects.toThrow('GITHUB_EVENT_PATH is not set');
    await expect(collect(root, [item], { event_path: join(root, 'nope') })).rejects.toThrow('cannot read');
    await expect(collect(root, [item], { event_path: join(root, 'bad.json') })).rejects.toThrow('is not JSON');
    await expect(collect(root, [item], { event_path: '/dev/zero' })).rejects.toThrow('is no file');
  });
});

describe('limits', () => {
  test('an empty item runs, skips or fails, as it asks', async () => {
    const collectEmpty = (when_empty: ContextLimits['when_empty']) =>
      collect(tempFolder(), [inputItem('a'), inputItem('empty', { when_empty }), inputItem('a')], {
        inputs: { a: 'x', empty: ' \n' },
      });
    expect((await collectEmpty('run')).parts).toHaveLength(3);
    expect(await collectEmpty('skip')).toMatchObject({ skip: 'context input empty is empty', parts: [{ text: 'x' }] });
    await expect(collectEmpty('fail')).rejects.toThrow('context input empty is empty, and its when_empty is "fail"');
  });

  test('a skip says what the empty diff does not show', async () => {
    const repo = gitRepo({ x: '' });
    writeFileSync(join(repo.root, 'new.txt'), '');
    const item: ContextItem = { kind: 'git_diff', paths: [], limits: { ...LIMITS, when_empty: 'skip' } };
    const { skip } = await collect(repo.root, [item]);
    expect(skip).toBe('context git diff is empty (1 untracked file is not part of this diff)');
  });

  test('an item over max_size fails when it asks for that', async () => {
    const item = inputItem('a', { on_overflow: 'fail', max_size_bytes: 3 });
    expect((await collect(tempFolder(), [item], { inputs: { a: 'abc' } })).parts).toHaveLength(1);
    await expect(collect(tempFolder(), [item], { inputs: { a: 'abcd' } })).rejects.toThrow(
      'context input a has 4 bytes; max_size allows 3: raise max_size',
    );
  });

  test('secrets are gone before the cut, from text, label and notes', async () => {
    const text = `${'x'.repeat(48)}${SECRET}${'y'.repeat(200)}`;
    const { parts } = await collect(
      tempFolder(),
      [inputItem('a', { max_size_bytes: 110 }), commandItem(`: ${SECRET}`)],
      {
        inputs: { a: text },
      },
    );
    expect(parts[0]?.text.startsWith(`${'x'.repeat(48)}***y`)).toBe(true);
    expect(JSON.stringify(parts)).not.toMatch(/top-sec/);
  });

  test('a cancelled run stops collecting', async () => {
    const root = tempFolder();
    const context = createContext({
      files: await createFiles(root),
      git: gitOn(root),
      exec,
      boundary: PLAIN,
      inputs: { a: 'x' },
      redact: (text) => text,
      timeout_ms: 1000,
    });
    expect(await context([inputItem('a')], AbortSignal.abort())).toEqual({ parts: [], warnings: [] });
  });
});
