import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { gitRepo } from '../helpers/git-repo.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';

const cli = useCli();

function taskOf(turns: object[], fields: object = {}): Record<string, string> {
  const model = { provider: 'script', script: { turns } };
  return { 'task.json': JSON.stringify({ prompt: 'Say it.', model, sandbox: { mode: 'off' }, ...fields }) };
}

const ANY_OBJECT = { output: { schema: { type: 'object' } } };
const resultIn = (folder: string): unknown => JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8'));

describe('stdout', () => {
  test('carries the final text and nothing else, stderr the rest', async () => {
    const cwd = tempTree(taskOf([{ text: 'All good.\n::warning::no' }]));
    const { code, stdout, stderr } = await cli.run(['task.json'], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'All good.\n::warning::no\n' });
    expect(stderr).toContain('agent-run: completed (exit 0)');
  });

  test('carries a JSON output as the model wrote it', async () => {
    const cwd = tempTree(taskOf([{ text: '{"b": 1.0, "a": 12345678901234567890}' }], ANY_OBJECT));
    expect((await cli.run(['task.json', '--quiet'], { cwd })).stdout).toBe('{"b": 1.0, "a": 12345678901234567890}\n');
  });

  test('carries the whole result with --format json, on success and on every other ending', async () => {
    const good = await cli.run(['task.json', '--format', 'json'], { cwd: tempTree(taskOf([{ text: 'x' }])) });
    expect(JSON.parse(good.stdout)).toMatchObject({ schema_version: 1, status: 'success', output: 'x', exit_code: 0 });
    const noKey = { 'task.json': '{ "prompt": "x", "model": "claude-sonnet-5-5" }' };
    const bad = await cli.run(['task.json', '--format', 'json'], { cwd: tempTree(noKey) });
    expect(bad.code).toBe(2);
    expect(JSON.parse(bad.stdout)).toMatchObject({ status: 'failure', exit_reason: 'config_error', exit_code: 2 });
    expect(bad.stderr).not.toMatch(/^\s+at /m);
  });

  test('carries one event a line with stream-json, each as it happens', async () => {
    const cwd = tempTree(taskOf([{ text: 'x', delay_ms: 1500 }]));
    const child = spawn(process.execPath, [cli.path(), 'task.json', '--format', 'stream-json'], {
      cwd,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const [first] = (await once(child.stdout, 'data')) as [Buffer]; // the one argument of a data event
    const early = Date.now();
    let all = first.toString('utf8');
    child.stdout.on('data', (chunk: Buffer) => {
      all += chunk.toString('utf8');
    });
    const [code] = (await once(child, 'close')) as [number | null]; // the first argument of a close event
    expect(code).toBe(0);
    expect(Date.now() - early).toBeGreaterThan(500); // the first events did not wait for the end
    const events = all
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(events[0]).toMatchObject({ seq: 1, type: 'run_start' });
    expect(events.at(-1)).toMatchObject({ type: 'run_end', exit_code: 0 });
  });

  test('holds no workflow command under GitHub Actions, whatever the model says', async () => {
    const env = { GITHUB_ACTIONS: 'true' };
    const hostile = 'a ##[error]x\n::set-output name=a::b\r::add-mask::x';
    const text = await cli.run(['task.json', '--verbose'], { cwd: tempTree(taskOf([{ text: hostile }])), env });
    const json = JSON.stringify({ a: hostile });
    const value = await cli.run(['task.json'], { cwd: tempTree(taskOf([{ text: json }], ANY_OBJECT)), env });
    for (const output of [text.stdout, text.stderr, value.stdout, value.stderr]) {
      expect(output).not.toMatch(/##\w*\[/);
      expect(output).not.toMatch(/(^|[\r\n])\s*::/);
    }
    expect(JSON.parse(value.stdout)).toEqual({ a: hostile });
  });

  test('of a slow reader gets a large output whole', async () => {
    const text = 'x'.repeat(500_000);
    const cwd = tempTree(taskOf([{ text }]));
    const child = spawn(process.execPath, [cli.path(), 'task.json', '--quiet'], {
      cwd,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let size = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      child.stdout.pause();
      setTimeout(() => child.stdout.resume(), 20);
    });
    const [code] = (await once(child, 'close')) as [number | null]; // the first argument of a close event
    expect({ code, size }).toEqual({ code: 0, size: text.length + 1 });
  });

  test('that was closed makes an io_error of the run, in the code and in result.json, and no crash', async () => {
    const cwd = tempTree(taskOf([{ text: 'x'.repeat(500_000), delay_ms: 300 }]));
    const child = spawn(process.execPath, [cli.path(), 'task.json', '--out', 'out'], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString('utf8');
    });
    const [code] = (await once(child, 'close')) as [number | null]; // the first argument of a close event
    expect(code).toBe(1);
    expect(resultIn(join(cwd, 'out'))).toMatchObject({ status: 'failure', exit_reason: 'io_error', exit_code: 1 });
    expect(stderr).toMatch(/agent-run: io_error \(exit 1\): stdout was closed .* \| spent 1 turns, cost unknown/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test('stays usable when stderr is closed: nothing of the run is lost', async () => {
    const cwd = tempTree(taskOf([{ text: 'kept', delay_ms: 300 }]));
    const child = spawn(process.execPath, [cli.path(), 'task.json', '--out', 'out'], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stderr.destroy();
    const [code] = (await once(child, 'exit')) as [number | null]; // the first argument of an exit event
    expect(code).toBe(0);
    expect(readFileSync(join(cwd, 'out/output.md'), 'utf8')).toBe('kept\n');
  });
});

describe('the process', () => {
  test('ends within two seconds of writing result.json, with standard input left open', async () => {
    const cwd = tempTree(taskOf([{ text: 'x' }]));
    const { code } = await cli.run(['task.json', '--out', 'out'], { cwd });
    expect(code).toBe(0);
    expect(Date.now() - statSync(join(cwd, 'out/result.json')).mtimeMs).toBeLessThan(2000);
  });

  test('ends with 143 on SIGTERM, with a result', async () => {
    const cwd = tempTree(taskOf([{ text: 'x', delay_ms: 60_000 }]));
    const child = spawn(process.execPath, [cli.path(), 'task.json', '--out', 'out'], {
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await once(child.stderr, 'data'); // the run has begun
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number | null]; // the first argument of an exit event
    expect(code).toBe(143);
    expect(resultIn(join(cwd, 'out'))).toMatchObject({ status: 'cancelled', exit_code: 143 });
  });

  test.each([
    ['an invalid output', [{ text: '{"a": 1}' }], { output: { schema: { required: ['b'] }, repair_attempts: 0 } }, 3],
    ['a limit', [{ text: 'x' }], { limits: { max_turns: 1, on_limit: 'stop' }, prompt: ['a', 'b'] }, 4],
    ['a failing service', [{ error: { status: 400, type: 'invalid_request_error', message: 'no' } }], {}, 6],
    ['a failing gate', [{ text: '{"a": 1}' }], { output: { schema: {}, gate: { required: ['b'] } } }, 9],
  ])('tells %s in one last line: cause, place, spent, next command', async (_what, turns, fields, expected) => {
    const { code, stderr } = await cli.run(['task.json', '--quiet'], { cwd: tempTree(taskOf(turns, fields)) });
    expect(code).toBe(expected);
    const last = stderr.trimEnd().split('\n').at(-1);
    expect(last).toMatch(/^agent-run: \w+ \(exit \d\): .+ \| at .*transcript\.jsonl:\d+ \| spent .+ \| next: /);
  });

  test('colours stderr only when asked or at a terminal', async () => {
    const cwd = tempTree(taskOf([{ text: 'x' }]));
    expect((await cli.run(['task.json'], { cwd })).stderr).not.toContain('\u001b[');
    const env = { NO_COLOR: '1' };
    expect((await cli.run(['task.json', '--color', 'always'], { cwd, env })).stderr).toContain('\u001b[');
  });

  test('keeps as many run folders as --keep says', async () => {
    const cwd = tempTree(taskOf([{ text: 'x' }]));
    for (let run = 0; run < 3; run += 1) await cli.run(['task.json', '--keep', '2'], { cwd });
    expect(readdirSync(join(cwd, 'agent-run-results/task'))).toHaveLength(2);
  });
});

describe('a task', () => {
  test('may be YAML, may hold comments, and names files with templates', async () => {
    const turns = '{ "turns": [{ "text": "done" }] }';
    const yaml = 'prompt: { file: p.md }\ninputs: { a: { default: A } }\nmodel: { provider: script, script: s.json }\n';
    const json = '{ "prompt": "x", // why\n "model": { "provider": "script", "script": "s.json" }, }';
    const cwd = tempTree({ 'task.yaml': yaml, 'task.json': json, 's.json': turns, 'p.md': 'Say {{ inputs.a }}.' });
    expect(await cli.run(['task.json', '--quiet'], { cwd })).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(await cli.run(['task.yaml', '--quiet', '--out', 'out'], { cwd })).toMatchObject({
      code: 0,
      stdout: 'done\n',
    });
    expect(readFileSync(join(cwd, 'out/transcript.jsonl'), 'utf8')).toContain('Say A.');
    const broken = await cli.run(['task.yaml', '--input', 'b=1'], { cwd });
    expect(broken).toMatchObject({ code: 2, stdout: '' });
    expect(broken.stderr).toContain('the unknown input "b"');
  });

  test('in broken YAML is told with line and column', async () => {
    const cwd = tempTree({ 'task.yaml': 'prompt: x\nmodel:\n  id: m\n  efort: low\n' });
    const { code, stderr } = await cli.run(['task.yaml'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('task.yaml:4:3 (/model/efort): found the unknown key "efort"');
  });
});

describe('--task-ref', () => {
  test('takes the task and what it names from the commit, not from the checkout', async () => {
    const task = { prompt: { file: 'prompt.md' }, model: { provider: 'script', script: 'script.json' } };
    const script = (text: string): string => JSON.stringify({ turns: [{ text }] });
    const repo = gitRepo({
      'ci/task.json': JSON.stringify(task),
      'ci/prompt.md': 'Old prompt.',
      'ci/script.json': script('base'),
    });
    const base = repo.git('rev-parse', 'HEAD').trim();
    repo.commit({ 'ci/prompt.md': 'Allow everything.', 'ci/script.json': script('head') });
    const out = join(tempFolder(), 'out');
    const argv = ['ci/task.json', '--task-ref', 'HEAD~1', '--out', out];
    expect(await cli.run(argv, { cwd: repo.root })).toMatchObject({ code: 0, stdout: 'base\n' });
    expect(resultIn(out)).toMatchObject({ task: { file: 'ci/task.json', ref: base } });
    expect(readFileSync(join(out, 'transcript.jsonl'), 'utf8')).not.toContain('Allow everything.');
    const wrong = await cli.run(['ci/task.json', '--task-ref', 'nope'], { cwd: repo.root });
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('--task-ref: "nope" is not in this clone');
  });

  test('is needed for a task in the checkout of an untrusted run', async () => {
    const task = JSON.stringify({ prompt: 'x', model: { provider: 'script', script: { turns: [{ text: 'base' }] } } });
    const repo = gitRepo({ 'task.json': task });
    repo.commit({ 'task.json': task.replace('base', 'head') });
    const env = { AGENT_RUN_UNTRUSTED: '1' };
    const refused = await cli.run(['task.json'], { cwd: repo.root, env });
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('take the task and what it names from a commit: --task-ref BASE');
    const read = await cli.run(['task.json'], { cwd: repo.root, env: { ...env, AGENT_RUN_TASK_REF: 'HEAD~1' } });
    expect(read).toMatchObject({ code: 0, stdout: 'base\n' });
  });
});

describe('the other commands', () => {
  test('validate prints the plan of each task in the order of names, and 2 with a message for one that is broken', async () => {
    const cwd = tempTree({ ...taskOf([{ text: 'x' }]), 'bad.json': '{ "prompt": "x" }' });
    const { code, stdout, stderr } = await cli.run(['validate', 'task.json', 'bad.json', '--format', 'json'], { cwd });
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject([
      { file: 'bad.json', valid: false },
      { file: 'task.json', valid: true, plan: { model: 'script/script', limits: { max_turns: 30 } } },
    ]);
    expect(stderr).toContain('bad.json:1:1: the key "model" is missing');
  });

  test('--dry-run validates and writes nothing', async () => {
    const cwd = tempTree(taskOf([{ text: 'x' }]));
    const { code, stdout } = await cli.run(['task.json', '--dry-run'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^task\.json: valid\n[^]*first_request_tokens: \d+\n/);
    expect(existsSync(join(cwd, 'agent-run-results'))).toBe(false);
  });

  test('explain says what the policy would do with a command, 0 or 5', async () => {
    const cwd = tempTree(taskOf([], { tools: { bash: { allow: ['npm test', 'git log *'] } } }));
    const allowed = await cli.run(['explain', 'task.json', '--', 'git', 'log', '-5'], { cwd });
    expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining('rule "git log *"') as unknown });
    const denied = await cli.run(['explain', 'task.json', '--', 'npm test && curl x'], { cwd });
    expect(denied.code).toBe(5);
    expect(denied.stdout).toMatch(/^allow {2}npm test/);
    expect(denied.stdout).toMatch(/^deny {3}curl x/m);
  });

  test('resume goes on in the same folder and refuses one that is none', async () => {
    const cwd = tempTree(taskOf([{ text: 'one' }, { text: 'two' }]));
    await cli.run(['task.json', '--out', 'out'], { cwd });
    const again = await cli.run(['resume', 'out', '--prompt', 'And now?'], { cwd });
    expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 0, stdout: 'two\n' });
    const none = await cli.run(['resume', 'nowhere'], { cwd });
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('no run folder');
  });
});
