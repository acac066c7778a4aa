import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gitRepo } from '../helpers/git-repo.ts';
import { writeTree } from '../helpers/temp.ts';
import { batchFolder, taskText, tellBatch, type ToldBatch } from './harness.ts';

const CHECK = taskText([{ text: 'x' }], { verify: [{ run: ['sh', '-c', 'test ! -f broken'], attempts: 1 }] });
const FILES = taskText([{ text: 'x' }], { context: [{ files: ['notes.md'] }] });
const READ = taskText([{ tool_use: [{ name: 'read_file', input: { path: 'notes.md' } }] }, { text: 'x' }], { tools: { read_file: {} } }); // prettier-ignore
const WRITE = taskText([{ tool_use: [{ name: 'write_file', input: { path: 'made.txt', file_text: '1' } }] }, { text: 'x' }], { tools: { write_file: {} } }); // prettier-ignore
const TALK = taskText([{ text: 'x' }]);
const GO_ON = { continue: true };

const carried = ({ report }: ToldBatch): string[] => report.runs.filter((run) => run.carried).map(({ task }) => task);

/** Folders of both kinds with the same files; git's are committed. */
const places = [
  ['a folder', batchFolder] as const,
  ['a repository', (files: Record<string, string>) => gitRepo(files).root] as const,
];

describe.each(places)('a batch that goes on in %s', (_kind, place) => {
  const START = { 'notes.md': 'one\n', 'talk.json': TALK };

  test.each([
    ['a verify command may read a new file', CHECK, 'broken'],
    ['a changed file stands in the context', FILES, 'notes.md'],
    ['a changed file was read', READ, 'notes.md'],
  ])('takes over no verdict about other content, and says why: %s', async (_what, task, changed) => {
    const cwd = place({ ...START, 'look.json': task });
    await tellBatch(cwd, ['*.json']);
    expect(carried(await tellBatch(cwd, ['*.json'], GO_ON))).toEqual(['look', 'talk']);
    writeFileSync(join(cwd, changed), 'two\n');
    const notes: string[] = [];
    const told = await tellBatch(cwd, ['*.json'], GO_ON, { note: (text) => void notes.push(text) });
    expect(carried(told)).toEqual(['talk']);
    expect(told.run('look')?.exit_code).toBe(changed === 'broken' ? 8 : 0);
    expect(notes).toEqual(['begun anew, because what stands in its workspace is not what the batch left there: look']);
  });

  test('takes over what its own runs changed, a fresh checkout, and mended tasks', async () => {
    const cwd = place({ ...START, 'a.json': READ, 'b.json': WRITE, 'c.json': READ, 'd.json': '{}' });
    expect((await tellBatch(cwd, ['*.json'])).exit_code).toBe(2);
    writeFileSync(join(cwd, 'd.json'), TALK);
    expect(carried(await tellBatch(cwd, ['*.json'], GO_ON))).toEqual(['a', 'b', 'c', 'talk']);
    rmSync(join(cwd, 'made.txt'));
    expect(carried(await tellBatch(cwd, ['*.json'], GO_ON))).toEqual(['a', 'b', 'c', 'd', 'talk']);
  });

  test('takes over what a killed run may have changed itself, until another has looked', async () => {
    const cwd = place({ ...START, 'a.json': READ, 'b.json': WRITE });
    await tellBatch(cwd, ['*.json']);
    const record = join(cwd, 'agent-run-results/batch.jsonl');
    const lines = readFileSync(record, 'utf8').split('\n');
    writeFileSync(record, lines.filter((line) => !/"run_end".*"task":"b"/.test(line)).join('\n'));
    writeFileSync(join(cwd, 'half.txt'), '');
    expect(carried(await tellBatch(cwd, ['*.json'], GO_ON))).toEqual(['a', 'b', 'talk']);
  });
});

test('a verdict given before somebody else changed the workspace is not taken over later either', async () => {
  const cwd = batchFolder({ 'notes.md': '1', 'a.json': READ, 'b.json': READ });
  await tellBatch(cwd, ['*.json']);
  writeFileSync(join(cwd, 'notes.md'), '2');
  await tellBatch(cwd, ['a.json'], GO_ON);
  expect(carried(await tellBatch(cwd, ['*.json'], GO_ON))).toEqual(['a']);
});

test('files that git ignores, and a record that says nothing of content, are told apart', async () => {
  const repo = gitRepo({ '.gitignore': 'cache/\n', 'notes.md': '1' });
  writeTree(repo.root, { 'a.json': READ });
  await tellBatch(repo.root, ['*.json']);
  writeTree(repo.root, { 'cache/x': '1' });
  expect(carried(await tellBatch(repo.root, ['*.json'], GO_ON))).toEqual(['a']);
  const record = join(repo.root, 'agent-run-results/batch.jsonl');
  writeFileSync(record, readFileSync(record, 'utf8').replaceAll(/,"content":"[^"]*"/g, ''));
  appendFileSync(record, '\n');
  expect(carried(await tellBatch(repo.root, ['*.json'], GO_ON))).toEqual([]);
});
