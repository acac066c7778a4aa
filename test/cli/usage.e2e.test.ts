import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { schemaCheck } from '../schemas/schema-check.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';

const cli = useCli();
const BROKEN = { 'task.json': '{\n  "promt": "x",\n  "model": "m"\n}\n' };

describe('a mistake of the caller', () => {
  test.each([
    [
      'an unknown key',
      ['task.json'],
      ['task.json:2:3 (/promt)', 'did you mean "prompt"?', 'next: agent-run validate task.json'],
    ],
    ['a missing file', ['tsk.json'], ['cannot read the task "tsk.json": no such file', 'did you mean "task.json"?']],
    ['a misspelt command', ['validat'], ['no such file', 'did you mean "validate"?']],
    [
      'an unknown option',
      ['task.json', '--max-turn', '3'],
      ['unknown option --max-turn', 'did you mean "--max-turns"?'],
    ],
    [
      'a wrong value before the task',
      ['--timeout', '90', 'task.json'],
      ['found "90"', 'next: agent-run validate --timeout 90 task.json'],
    ],
    ['a wrong value', ['task.json', '--timeout', '90'], ['--timeout: found "90"', 'expected a number with a unit']],
    ['no task', [], ['no task given', 'next: agent-run --help']],
    ['a workspace that does not exist', ['task.json', '--workspace', 'nowhere'], ['--workspace: found "nowhere"']],
    ['a shard out of range', ['run', 'task.json', '--shard', '4/3'], ['--shard: found "4/3"', 'I from 1 to N']],
    ['one run to compare', ['diff', 'a'], ['found 1 run folders, expected two']],
  ])('is code 2 with one message and no stack: %s', async (_what, argv, parts) => {
    const { code, stdout, stderr } = await cli.run(argv, { cwd: tempTree(BROKEN) });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const part of parts) expect(stderr).toContain(part);
    expect(stderr).toMatch(/^agent-run: config_error \(exit 2\): .* \| spent nothing( \| next: .*)?$/m);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test('in several places is told place by place, the last line being the ending', async () => {
    const task = '{ "promt": "x",\n "model": "m",\n "limits": { "max_turns": 0 } }';
    const { stderr } = await cli.run(['task.json'], { cwd: tempTree({ 'task.json': task }) });
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/^task\.json:3:27 \(\/limits\/max_turns\): found 0/);
    expect(lines[2]).toMatch(/^agent-run: config_error \(exit 2\): 2 problems, the first: task\.json:1:3/);
  });

  test('leaves stdout parsable with --format json, flag or variable, and with stream-json', async () => {
    const cwd = tempTree(BROKEN);
    const env = { AGENT_RUN_FORMAT: 'json' };
    for (const result of [
      await cli.run(['task.json', '--format=json'], { cwd }),
      await cli.run(['task.json'], { cwd, env }),
    ]) {
      expect(result.code).toBe(2);
      expect(JSON.parse(result.stdout)).toMatchObject({
        status: 'failure',
        exit_reason: 'config_error',
        exit_code: 2,
        output: null,
      });
    }
    const stream = await cli.run(['task.json', '--format', 'stream-json', '--nonsense'], { cwd });
    const lines = stream.stdout.trimEnd().split('\n');
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([{ type: 'run_end', exit_code: 2 }]);
  });

  test('has a result and an event of the published form', async () => {
    const cwd = tempTree({ 'task.json': '{ "promt": 1, "modl": 2 }' });
    const result: unknown = JSON.parse((await cli.run(['task.json', '--format=json'], { cwd })).stdout);
    expect((await schemaCheck('result'))(result)).toEqual([]);
    const event: unknown = JSON.parse((await cli.run(['task.json', '--format=stream-json'], { cwd })).stdout);
    expect((await schemaCheck('transcript'))(event)).toEqual([]);
  });

  test('replaces the result of an earlier run in --out: no old success stays there', async () => {
    const cwd = tempTree({
      ...BROKEN,
      'out/result.json': '{"schema_version":1,"run_id":"20260101T000000Z-1-abcdef","status":"success"}',
      'out/output.json': '1',
    });
    writeFileSync(join(cwd, 'out/transcript.jsonl'), '');
    const { code } = await cli.run(['task.json', '--out', 'out'], { cwd });
    expect(code).toBe(2);
    expect(JSON.parse(readFileSync(join(cwd, 'out/result.json'), 'utf8'))).toMatchObject({
      status: 'failure',
      exit_code: 2,
    });
    expect(readdirSync(join(cwd, 'out'))).not.toContain('output.json');
  });

  test('leaves a folder alone that is no run folder', async () => {
    const cwd = tempTree({ ...BROKEN, 'out/mine.txt': 'mine' });
    await cli.run(['task.json', '--out', 'out'], { cwd });
    expect(readdirSync(join(cwd, 'out'))).toEqual(['mine.txt']);
  });

  test('cannot smuggle a workflow command through a value', async () => {
    const task = '{ "prompt": "x", "model": "m", "##[error]x\\n::set-output name=a::b": 1 }';
    const { stderr } = await cli.run(['task.json'], {
      cwd: tempTree({ 'task.json': task }),
      env: { GITHUB_ACTIONS: 'true' },
    });
    expect(stderr).not.toContain('##[');
    expect(stderr).not.toMatch(/^\s*::/m);
  });
});

describe('standard input', () => {
  test('is not read, and not waited for, when the command line does not name it', async () => {
    const { code, ms } = await cli.run(['task.json'], { cwd: tempTree(BROKEN) }); // an open pipe nobody writes to
    expect(code).toBe(2);
    expect(ms).toBeLessThan(5000);
  });

  test('gives the task as JSON, and its mistakes have lines too', async () => {
    const { code, stderr } = await cli.run(['-'], { cwd: tempFolder(), stdin: '{\n"model": 1 }' });
    expect(code).toBe(2);
    expect(stderr).toContain('-:2:10 (/model): found 1');
  });

  test.each(['[', '- '])('of a hundred thousand "%s" ends with an error within two seconds', async (text) => {
    const cwd = tempTree({ 'task.yaml': text.repeat(100_000) });
    for (const argv of [['-'], ['task.yaml']]) {
      const { code, stderr, ms } = await cli.run(argv, { cwd, stdin: text.repeat(100_000) });
      expect(code).toBe(2);
      expect(stderr).not.toMatch(/^\s+at /m);
      expect(ms).toBeLessThan(2000);
    }
  });
});

describe('help, version, schema, completion', () => {
  test('go to stdout with code 0', async () => {
    const cwd = tempFolder();
    const help = await cli.run(['--help'], { cwd });
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(/^agent-run TASK \[options\]\n/);
    expect(await cli.run(['--version'], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as unknown,
    });
    const schema = await cli.run(['schema', 'task'], { cwd });
    expect(JSON.parse(schema.stdout)).toMatchObject({ title: 'agent-run task' });
    expect((await cli.run(['completion'], { cwd })).stdout).toContain('complete -o filenames -F _agent_run agent-run');
  });

  test('of an unknown schema name the nearest', async () => {
    const { code, stderr } = await cli.run(['schema', 'tsk'], { cwd: tempFolder() });
    expect(code).toBe(2);
    expect(stderr).toContain('did you mean "task"?');
  });
});

describe('init', () => {
  test('writes files that validate accepts, also in an empty folder, and never overwrites', async () => {
    const cwd = tempFolder();
    mkdirSync(join(cwd, 'project'));
    const first = await cli.run(['init', 'project'], { cwd });
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const task = join('project', 'agent-run/review.json');
    const valid = await cli.run(['validate', task], { cwd, env: { ANTHROPIC_API_KEY: 'test-key' } });
    expect({ code: valid.code, stderr: valid.stderr }).toEqual({ code: 0, stderr: '' });
    expect(valid.stdout).toContain(`${task}: valid`);
    writeFileSync(join(cwd, task), 'mine');
    await cli.run(['init', 'project'], { cwd });
    expect(readFileSync(join(cwd, task), 'utf8')).toBe('mine');
  });
});
