import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { tempTree } from '../helpers/temp.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });
const cli = useCli();

const TASK = {
  prompt: 'Do it.',
  tools: { write_file: {} },
  sandbox: { mode: 'off' },
  model: {
    provider: 'script',
    script: {
      turns: [
        { tool_use: [{ name: 'write_file', input: { path: 'a.txt', file_text: 'one\n' } }] },
        { text: 'first' },
        { text: 'second', delay_ms: 1500 },
      ],
    },
  },
};
const ENDINGS = ['changes.patch', 'output.md', 'result.json', 'summary.md', 'usage.json'];

function git(cwd: string, ...args: string[]): void {
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd, stdio: 'ignore' });
}

/** A run in a repository that has completed. */
async function completed(): Promise<{ cwd: string; workspace: string; run_dir: string }> {
  const cwd = tempTree({ 'task.json': JSON.stringify(TASK), 'workspace/README.md': 'hello\n' });
  const workspace = join(cwd, 'workspace');
  git(workspace, 'init', '-q');
  git(workspace, 'add', '.');
  git(workspace, 'commit', '-qm', 'begin');
  const { code } = await cli.run(['task.json', '--workspace', 'workspace', '--out', 'out'], { cwd });
  expect(code).toBe(0);
  return { cwd, workspace, run_dir: join(cwd, 'out') };
}

function filesOf(run_dir: string): Record<string, string> {
  const names = readdirSync(run_dir).filter((name) => name !== '.lock');
  return Object.fromEntries(names.toSorted().map((name) => [name, readFileSync(join(run_dir, name), 'utf8')]));
}

/** Resumes and kills the process while it waits for the model; looks at the folder the moment before. */
async function killed(cwd: string, run_dir: string): Promise<string[]> {
  const child = spawn(process.execPath, [cli.path(), 'resume', 'out', '--prompt', 'More?'], { cwd, stdio: 'ignore' });
  const transcript = join(run_dir, 'transcript.jsonl');
  const asked = (): number => readFileSync(transcript, 'utf8').split('"type":"turn_start"').length - 1;
  await vi.waitFor(() => expect(asked()).toBe(3), { timeout: 20_000, interval: 5 });
  const alive = Object.keys(filesOf(run_dir));
  child.kill('SIGKILL');
  await once(child, 'exit');
  return alive;
}

describe('a resume that is killed', () => {
  test('leaves nothing that says the run has succeeded, neither while it lives nor after', async () => {
    const { cwd, run_dir } = await completed();
    const before = filesOf(run_dir);
    expect(Object.keys(before)).toEqual([...ENDINGS, 'transcript.jsonl'].toSorted());
    const alive = await killed(cwd, run_dir);
    expect(alive.filter((name) => ENDINGS.includes(name))).toEqual([]);
    for (const name of ENDINGS) {
      expect(existsSync(join(run_dir, name)), name).toBe(false);
      expect(readFileSync(join(run_dir, `${name}.before-resume`), 'utf8'), name).toBe(before[name]);
    }
    const report = await cli.run(['report', 'out', '--format', 'markdown', '--exit-code'], { cwd });
    expect(report.code).not.toBe(0);
    expect(report.stdout).toContain('the run was killed or is still going');
  });

  test('can itself be resumed, to an end that replaces the earlier one', async () => {
    const { cwd, run_dir } = await completed();
    await killed(cwd, run_dir);
    const { code, stdout } = await cli.run(['resume', 'out'], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'second\n' });
    expect(Object.keys(filesOf(run_dir))).toEqual([...ENDINGS, 'transcript.jsonl'].toSorted());
  });

  test('does not keep a new run out of its folder', async () => {
    const { cwd, run_dir } = await completed();
    await killed(cwd, run_dir);
    rmSync(join(cwd, 'workspace/a.txt'));
    const { code } = await cli.run(['task.json', '--workspace', 'workspace', '--out', 'out'], { cwd });
    expect(code).toBe(0);
    expect(Object.keys(filesOf(run_dir))).toEqual([...ENDINGS, 'transcript.jsonl'].toSorted());
  });
});

describe('a resume that is refused', () => {
  test('because HEAD is another leaves every file as it was', async () => {
    const { cwd, workspace, run_dir } = await completed();
    git(workspace, 'commit', '-qm', 'later', '--allow-empty');
    const before = filesOf(run_dir);
    expect((await cli.run(['resume', 'out', '--prompt', 'More?'], { cwd })).code).toBe(2);
    expect(filesOf(run_dir)).toEqual(before);
  });

  test('because a file cannot be set aside leaves every file as it was', async () => {
    const { cwd, run_dir } = await completed();
    const before = filesOf(run_dir);
    mkdirSync(join(run_dir, 'usage.json.before-resume'));
    expect((await cli.run(['resume', 'out', '--prompt', 'More?'], { cwd })).code).toBe(1);
    rmSync(join(run_dir, 'usage.json.before-resume'), { recursive: true });
    expect(filesOf(run_dir)).toEqual(before);
  });

  test('because calls are open leaves every file as it was', async () => {
    const { cwd, run_dir } = await completed();
    const transcript = join(run_dir, 'transcript.jsonl');
    const lines = readFileSync(transcript, 'utf8').split('\n');
    const kept = lines.slice(0, lines.findIndex((line) => line.includes('"type":"tool_start"')) + 1);
    writeFileSync(transcript, `${kept.join('\n')}\n`);
    const before = filesOf(run_dir);
    const refused = await cli.run(['resume', 'out', '--prompt', 'More?'], { cwd });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('resume it without --prompt first');
    expect(filesOf(run_dir)).toEqual(before);
  });
});
