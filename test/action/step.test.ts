import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { ROOT } from '../helpers/pages.ts';
import { readOutputs } from '../helpers/step-files.ts';
import { tempTree } from '../helpers/temp.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

interface Setup {
  /** Turns of the script. */
  turns: object[];
  /** Further fields of the task. */
  task?: object;
  inputs?: Record<string, string>;
  env?: Record<string, string>;
}

/** A checkout, and the environment in which the runner starts the action in it. */
function setUp({ turns, task, inputs = {}, env = {} }: Setup) {
  const definition = { prompt: 'Go.', model: { provider: 'script', id: 'script', script: { turns } }, ...task };
  const folder = tempTree({
    'checkout/task.json': JSON.stringify(definition),
    'checkout/LEAK.md': 'leaked: sk-ant-secret-value and first-secret-line\n',
    'files/output': '',
    'files/summary': '',
    'temp/.keep': '',
  });
  const given = Object.entries({ task: 'task.json', ...inputs }).map(([name, value]) => [
    `INPUT_${name.toUpperCase()}`,
    value,
  ]);
  const runner = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    GITHUB_ACTIONS: 'true',
    GITHUB_OUTPUT: join(folder, 'files/output'),
    GITHUB_STEP_SUMMARY: join(folder, 'files/summary'),
    RUNNER_TEMP: join(folder, 'temp'),
  };
  return { folder, cwd: join(folder, 'checkout'), env: { ...runner, ...Object.fromEntries(given), ...env } };
}

const ENTRY = [join(ROOT, 'dist/action.mjs')];

function runAction(setup: Setup) {
  const { folder, cwd, env } = setUp(setup);
  const { status, stdout, stderr } = spawnSync(process.execPath, ENTRY, {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  const outputs = readOutputs(readFileSync(join(folder, 'files/output'), 'utf8'));
  return { status, stdout, stderr, outputs, summary: readFileSync(join(folder, 'files/summary'), 'utf8'), folder };
}

const commandsIn = (text: string): string[] => text.split(/\r\n|\r|\n/).filter((line) => /^\s*::|##\w*\[/.test(line));
const ANSWER = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const submit = (value: object): object => ({ tool_use: [{ name: 'submit_result', input: value }] });

describe('the step', () => {
  test('hands on status, output, files and usage, and says nothing on stdout', () => {
    const { status, stdout, outputs, summary } = runAction({
      turns: [{ text: 'done', usage: { input_tokens: 7, output_tokens: 3 } }],
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(outputs).toMatchObject({
      status: 'success',
      'exit-reason': 'completed',
      'exit-code': '0',
      output: 'done',
      turns: '1',
      'total-input-tokens': '7',
      'total-output-tokens': '3',
      'last-input-tokens': '7',
      'cost-usd': '',
    });
    for (const name of ['output-file', 'transcript', 'usage-file'])
      expect(existsSync(outputs[name] ?? ''), name).toBe(true);
    expect(summary).not.toBe('');
  });

  test("keeps its run folder below the runner's temporary folder", () => {
    const { outputs, folder } = runAction({ turns: [{ text: 'done' }] });
    expect(outputs['run-dir']).toMatch(new RegExp(`^${join(folder, 'temp')}/`));
    expect(existsSync(join(folder, 'checkout/agent-run-results'))).toBe(false);
  });

  test('passes values on as they are, line breaks and `@` included', () => {
    const task = { inputs: { body: {} }, prompt: 'Say: {{ inputs.body }}' };
    const inputs = { inputs: JSON.stringify({ body: '@/etc/passwd\nstatus=success\n::error::x' }) };
    const { status, outputs } = runAction({ turns: [{ text: 'done' }], task, inputs });
    expect(status).toBe(0);
    const start: unknown = JSON.parse(readFileSync(outputs['transcript'] ?? '', 'utf8').split('\n')[0] ?? '');
    expect(start).toMatchObject({ task: { prompts: ['Say: @/etc/passwd\nstatus=success\n::error::x'] } });
  });

  test('turns no text of the model into a command or another output', () => {
    const text = '::error::no\n##[error]no\r::set-output name=status::success\nstatus=success\nx<<EOF\n<img src=x>';
    const { status, stdout, stderr, outputs } = runAction({ turns: [{ text }], inputs: { args: '--verbose' } });
    expect(status).toBe(0);
    expect(commandsIn(stdout + stderr)).toEqual([]);
    expect(Object.keys(outputs)).toHaveLength(15);
    expect(outputs['output']).toBe(text);
  });

  test('masks each line of a key, and no file of the run holds it', () => {
    const key = 'first-secret-line\nab\nsecond-secret-line';
    const turns = [{ tool_use: [{ name: 'read_file', input: { path: 'LEAK.md' } }] }, { text: 'done' }];
    const model = { provider: 'script', id: 's', api_key_env: 'OTHER_KEY', script: { turns } };
    const inputs = { 'anthropic-api-key': 'sk-ant-secret-value', 'api-key': key };
    const { status, stdout, outputs } = runAction({ turns, task: { model, tools: { read_file: {} } }, inputs });
    expect(status).toBe(0);
    expect(stdout.split('\n').filter((line) => line !== '')).toEqual([
      '::add-mask::sk-ant-secret-value',
      '::add-mask::first-secret-line',
      '::add-mask::second-secret-line',
    ]);
    const transcript = readFileSync(outputs['transcript'] ?? '', 'utf8');
    expect(transcript).toContain('leaked: [redacted] and [redacted]');
    expect(transcript).not.toMatch(/first-secret-line|sk-ant-secret-value/);
  });

  test('annotates the findings of a valid output', () => {
    const task = {
      tools: {},
      output: { schema: { type: 'object', properties: { findings: { type: 'array' } }, required: ['findings'] } },
      findings: { items: '/findings', path: '/f', line: '/l', message: '/m' },
    };
    const turns = [submit({ findings: [{ f: 'src/a,b.ts', l: 3, m: 'bad\n::error::worse' }] })];
    const { status, stdout } = runAction({ turns, task });
    expect(status).toBe(0);
    expect(stdout.trim()).toBe('::warning file=src/a%2Cb.ts,line=3::bad%0A::error::worse');
    expect(runAction({ turns, task, inputs: { annotations: 'false' } }).stdout).toBe('');
    expect(runAction({ turns, task: { ...task, github: { annotations: false } } }).stdout).toBe('');
  });

  test('writes no summary when told so, and appends to one that is there', () => {
    expect(runAction({ turns: [{ text: 'done' }], inputs: { summary: 'false' } }).summary).toBe('');
    expect(runAction({ turns: [{ text: 'done' }], task: { github: { summary: false } } }).summary).toBe('');
  });

  test('leaves an output above 256 KiB to its file, with a warning', () => {
    const { stdout, outputs } = runAction({ turns: [{ text: 'x'.repeat(300_000) }] });
    expect(stdout).toMatch(/^::warning::the output is larger than 256 KiB/);
    expect(outputs['output']).toBe('');
    expect(readFileSync(outputs['output-file'] ?? '', 'utf8').length).toBeGreaterThanOrEqual(300_000);
  });
});

describe('a step that does not succeed', () => {
  const gate = { output: { schema: ANSWER, gate: { properties: { a: { const: 'yes' } } } } };

  test.each([
    ['error', 9],
    ['verdict', 9],
    ['never', 0],
  ])('with fail-on %s ends a gate that says no with %i', (word, code) => {
    const { status, stdout, outputs } = runAction({
      turns: [submit({ a: 'no' })],
      task: gate,
      inputs: { 'fail-on': word },
    });
    expect(status).toBe(code);
    expect(outputs).toMatchObject({
      'exit-code': '9',
      'exit-reason': 'gate_failed',
      output: '{"a":"no"}',
      status: 'failure',
    });
    expect(stdout.match(/^::error /gm)).toHaveLength(1);
  });

  test.each([
    ['error', 6],
    ['verdict', 0],
  ])('with fail-on %s ends a failure of the service with %i', (word, code) => {
    const turns = [{ error: { status: 400, message: 'bad' } }];
    const { status, outputs } = runAction({ turns, inputs: { 'fail-on': word } });
    expect(status).toBe(code);
    expect(outputs).toMatchObject({ 'exit-code': '6', output: '', 'output-file': '' });
  });

  test.each([
    [{ comment: 'true' }, 'the input "github-token" is empty'],
    [{ task: 'tsak.json' }, 'did you mean "task.json"'],
    [{ 'max-turns': '0' }, '--max-turns'],
    [{ 'fail-on': 'nevr' }, 'the input "fail-on"'],
    [{ 'api-key': 'some-secret' }, 'the task names no variable in model.api_key_env'],
    [{ inputs: 'nme=x' }, 'unknown input'],
  ])('for %j ends with code 2 and one sentence', (inputs, sentence) => {
    const { status, stdout, outputs } = runAction({ turns: [{ text: 'done' }], inputs });
    expect(status).toBe(2);
    expect(stdout.split('\n').filter((line) => line.startsWith('::error'))).toEqual([
      expect.stringContaining(sentence),
    ]);
    expect(outputs).toMatchObject({
      status: 'failure',
      'exit-code': '2',
      'exit-reason': 'config_error',
      'total-input-tokens': '',
    });
    const result: unknown = JSON.parse(readFileSync(join(outputs['run-dir'] ?? '', 'result.json'), 'utf8'));
    expect(result).toMatchObject({ status: 'failure', exit_reason: 'config_error', exit_code: 2, output: null });
  });

  test('shows ten errors at most, its own line among them, and counts the rest', () => {
    const task = {
      output: {
        schema: { type: 'object', properties: { findings: { type: 'array' } }, required: ['findings'] },
        gate: { properties: { findings: { maxItems: 0 } } },
      },
      findings: { items: '/findings', level: '/l', message: '/m' },
    };
    const findings = Array.from({ length: 12 }, (_, index) => ({ l: 'error', m: `finding ${index}` }));
    const { status, stdout, summary } = runAction({ turns: [submit({ findings })], task });
    expect(status).toBe(9);
    expect(stdout.match(/^::error /gm)).toHaveLength(1);
    expect(stdout.match(/^::error(?: title=[^:]*)?::/gm)).toHaveLength(10);
    expect(stdout).toMatch(/^::notice::3 more findings are in the output/m);
    expect(summary.match(/^\| error \|/gm)).toHaveLength(12);
  });

  test('before its run says so in the summary, with the command to try next', () => {
    const { summary } = runAction({ turns: [], inputs: { 'max-turns': '0' } });
    const [line = ''] = summary.split('\n');
    expect(line).toMatch(
      /^\*\*task: failure\*\* \(`config_error`, exit code 2\): .*Next: `agent-run validate task\.json`$/,
    );
  });

  test('before its run writes no summary when told so', () => {
    expect(runAction({ turns: [], inputs: { summary: 'false', task: 'tsak.json' } }).summary).toBe('');
  });

  test('leaves no earlier success in its run folder', () => {
    const { folder, cwd, env } = setUp({ turns: [{ text: 'done' }], inputs: { out: 'run' } });
    const start = (more: Record<string, string>) =>
      spawnSync(process.execPath, ENTRY, { cwd, env: { ...env, ...more }, encoding: 'utf8' }).status;
    expect(start({})).toBe(0);
    expect(start({ INPUT_COMMENT: 'true' })).toBe(2);
    const dir = join(folder, 'checkout/run');
    expect(existsSync(join(dir, 'output.md'))).toBe(false);
    expect(readFileSync(join(dir, 'result.json'), 'utf8')).toContain('"exit_reason": "config_error"');
  });

  test('does not touch a folder that holds something else', () => {
    const { status, outputs, folder } = runAction({ turns: [{ text: 'done' }], inputs: { out: '.' } });
    expect({ status, dir: outputs['run-dir'] }).toEqual({ status: 2, dir: '' });
    expect(existsSync(join(folder, 'checkout/task.json'))).toBe(true);
  });

  test('for want of a required sandbox starts nothing', () => {
    const task = { tools: { bash: { allow: ['echo hi'] } }, sandbox: { mode: 'off' } };
    const env = { GITHUB_EVENT_NAME: 'issue_comment' };
    const inputs = { workspace: '../temp', 'allowed-associations': 'any' }; // the task lies outside of what a stranger wrote
    const { status, outputs } = runAction({ turns: [{ text: 'done' }], task, env, inputs });
    expect(status).toBe(5);
    expect(outputs).toMatchObject({ 'exit-reason': 'sandbox_unavailable', 'total-input-tokens': '0' });
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('because %s came still writes its outputs', async (signal, code) => {
    const { folder, cwd, env } = setUp({ turns: [{ delay_ms: 50_000, text: 'late' }] });
    const child = spawn(process.execPath, ENTRY, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const closed = once(child, 'close');
    await once(child.stderr, 'data'); // the run says that it has begun
    child.kill(signal);
    expect(await closed).toEqual([code, null]);
    const outputs = readOutputs(readFileSync(join(folder, 'files/output'), 'utf8'));
    expect(outputs).toMatchObject({ status: 'cancelled', 'exit-reason': 'cancelled', 'exit-code': String(code) });
    expect(existsSync(join(outputs['run-dir'] ?? '', 'result.json'))).toBe(true);
  });
});
