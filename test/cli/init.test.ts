import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { completionScript } from '../../src/cli/completion.ts';
import { initFolder } from '../../src/cli/init.ts';
import { schemaText } from '../../src/cli/schemas.ts';
import { REVIEW_FILES } from '../../src/cli/templates/review.ts';
import { load } from '../config/loading.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';

describe('init', () => {
  test('writes a task that loads, its schema and a workflow that is YAML', async () => {
    const folder = tempFolder();
    expect(initFolder(folder, undefined)).toContain('created agent-run/review.json');
    const { task } = await load({ folder, file: 'agent-run/review.json' });
    expect(task).toMatchObject({ name: 'review', output: { schema_file: 'agent-run/review.schema.json' } });
    const workflow: unknown = parse(readFileSync(join(folder, '.github/workflows/agent-run-review.yml'), 'utf8'));
    expect(workflow).toMatchObject({ on: 'pull_request', permissions: { contents: 'read' } });
  });

  test('never overwrites: what is there stays, the rest is added', () => {
    const folder = tempFolder();
    initFolder(folder, 'sub');
    const path = join(folder, 'sub/agent-run/review.json');
    writeFileSync(path, 'mine');
    const said = initFolder(folder, 'sub');
    expect(readFileSync(path, 'utf8')).toBe('mine');
    expect(said.match(/kept /g)).toHaveLength(REVIEW_FILES.length);
    expect(said).toContain('next: agent-run validate sub/agent-run/review.json');
  });

  test("of a folder that is a file is the caller's mistake", () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'file'), '');
    expect(() => initFolder(folder, 'file')).toThrow('cannot write "file/agent-run/review.json"');
  });
});

describe('schema', () => {
  test('prints the names, or one schema as it is shipped', async () => {
    const files = readdirSync(new URL('../../schemas/', import.meta.url));
    const names = files.map((file) => file.replace('.schema.json', ''));
    expect((await schemaText(undefined)).trimEnd().split('\n').sort()).toEqual(names.sort());
    const shipped: unknown = JSON.parse(
      readFileSync(new URL('../../schemas/task.schema.json', import.meta.url), 'utf8'),
    );
    expect(JSON.parse(await schemaText('task'))).toEqual(shipped);
    await expect(schemaText('tasks')).rejects.toThrow('did you mean "task"?');
  });
});

describe('completion', () => {
  /** What bash offers for the last of these words. */
  function offered(...words: string[]): string[] {
    const line = ['agent-run', ...words].map((word) => `'${word}'`).join(' ');
    const script = `${completionScript()}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _agent_run; printf '%s\n' "\${COMPREPLY[@]}"`;
    const { stdout, status, stderr } = spawnSync('bash', ['-c', script], {
      cwd: tempTree({ 'task.json': '' }),
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout.trim().split('\n');
  }

  test('offers commands and files first', () => {
    expect(offered('')).toEqual(expect.arrayContaining(['run', 'validate', 'doctor', 'task.json']));
    expect(offered('va')).toEqual(['validate']);
  });

  test.each([
    [['resume', '--al'], ['--allow-changed']],
    [
      ['task.json', '--max-t'],
      ['--max-turns', '--max-total-cost-usd'],
    ],
    [['explain', '--max'], ['']],
    [
      ['diff', '--max-new'],
      ['--max-new-findings', '--max-new-denials'],
    ],
  ])("offers a command's own options: %j", (words, wanted) => {
    expect(offered(...words)).toEqual(wanted);
  });

  test('offers the words of a choice, of the command at hand', () => {
    expect(offered('task.json', '--format', '')).toEqual(expect.arrayContaining(['text', 'json', 'stream-json']));
    expect(offered('report', '--format', 's')).toEqual(['sarif']);
    expect(offered('schema', 'tr')).toEqual(['transcript']);
  });

  test('has a script for fish, and names the shells for any other', () => {
    expect(completionScript('fish')).toContain(
      "complete -c agent-run -n '__fish_seen_subcommand_from resume' -l prompt -r",
    );
    expect(() => completionScript('tcsh')).toThrow('expected one of bash, zsh, fish');
  });
});
