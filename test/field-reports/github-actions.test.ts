import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { gitRepo } from '../helpers/git-repo.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { blocksOf, messagesOf } from './requests.ts';
import { useStep } from './step.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 30_000 });
const step = useStep();

const ANSWER = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const FINDINGS = {
  output: { schema: { type: 'object', properties: { findings: { type: 'array' } }, required: ['findings'] } },
  findings: { items: '/findings', path: '/file', line: '/line', message: '/message' },
};

describe('the step', () => {
  test('B135: succeeds if and only if the run has code 0', async () => {
    expect((await step({ replies: ['done'] })).code).toBe(0);
    const limited = await step({
      task: { tools: { read_file: {} }, limits: { max_turns: 1, on_limit: 'stop' } },
      replies: [reply.tool('read_file', { path: '.' })],
    });
    expect(limited.code).toBe(4);
    expect(limited.outputs).toMatchObject({
      status: 'failure',
      'exit-reason': 'max_turns',
      'exit-code': '4',
      'output-file': '',
    });
    expect(limited.commands.filter((line) => line.startsWith('::error'))).toHaveLength(1);
  });

  test('B135: fails when its result cannot be written', async () => {
    const run = await step({
      task: { tools: { bash: { allow: ['rm *'] } } },
      replies: [reply.tool('bash', { command: 'rm -r ../out' }), 'done'],
      loses_result: true,
    });
    expect(run.code).toBe(1);
    expect(run.outputs).toMatchObject({ status: 'failure', 'exit-reason': 'io_error', 'output-file': '' });
    expect(run.commands.filter((line) => line.startsWith('::error'))).toHaveLength(1);
  });

  test('B149: needs no node on PATH', async () => {
    const run = await step({ replies: ['done'], env: { PATH: '/nonexistent' } });
    expect(run.code).toBe(0);
  });

  test('B147: takes a diff of 3 MB: nothing large is an argument or a variable', async () => {
    const run = await step({
      task: { context: [{ git: 'diff', base: 'base', max_size: '4MB' }] },
      replies: ['done'],
      prepare: ({ workspace }) => {
        const repo = gitRepo({ 'big.txt': '' }, workspace);
        repo.git('tag', 'base');
        repo.commit({ 'big.txt': 'a line of the change\n'.repeat(150_000) });
      },
    });
    expect(run.code).toBe(0);
    const [diff] = blocksOf(messagesOf(run.turns[0])[0]);
    expect(String(diff?.['text']).length).toBeGreaterThan(3_000_000);
  });

  test('B151: posts no "started" text: what cannot be run has no comment but the one that says so', async () => {
    for (const given of [{ inputs: { comment: 'true' } }, { task: { github: { comment: { sticky: true } } } }]) {
      const run = await step({ ...given, inputs: { ...given.inputs, out: 'out' } });
      expect(run.code).toBe(2);
    }
  });
});

describe('what a step hands on', () => {
  test('B137: keeps values of several lines, also those that look like the end of one', async () => {
    const value = { a: 'line 1\nline 2\nname=value\nEOF\nstatus<<EOF\n' };
    const text = JSON.stringify(value, null, 2);
    const run = await step({ task: { output: { schema: ANSWER } }, replies: [text] });
    expect(JSON.parse(run.outputs['output'] ?? '')).toEqual(value);
    expect(run.outputs['status']).toBe('success');
    const plain = await step({ replies: ['one\ntwo\n::set-output name=x::y\nexit-code=0'] });
    expect(plain.outputs['output']).toBe('one\ntwo\n::set-output name=x::y\nexit-code=0');
  });

  test('B145: has fixed names; fields of the output cannot take their place', async () => {
    const value = { status: 'great', result_path: '/etc/passwd', conclusion: 'success', 'exit-code': '7' };
    const names = Object.keys(value);
    const schema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])), required: names };
    const run = await step({ task: { output: { schema } }, replies: [JSON.stringify(value)] });
    expect(run.outputs).toMatchObject({ status: 'success', 'exit-code': '0' });
    expect(Object.keys(run.outputs)).not.toContain('conclusion');
    expect(JSON.parse(run.outputs['output'] ?? '')).toEqual(value);
  });

  test('B071: tells status and validity apart from the output', async () => {
    const schema = { output: { schema: ANSWER, repair_attempts: 0 } };
    const invalid = await step({ task: schema, replies: ['{"a":1}'] });
    expect(invalid.outputs).toMatchObject({
      status: 'failure',
      'exit-reason': 'output_invalid',
      output: '',
      'output-file': '',
    });
    const valid = await step({ task: schema, replies: ['{"a":"x"}'] });
    expect(valid.outputs).toMatchObject({
      status: 'success',
      output: '{"a":"x"}',
      'output-file': join(valid.run_dir, 'output.json'),
    });
  });

  test('B139: has a summary of at most a million bytes with what was there, cut with a pointer to the artifact', async () => {
    const findings = Array.from({ length: 400 }, (_, line) => ({
      file: 'a.ts',
      line,
      message: `${'long '.repeat(1000)}${line}`,
    }));
    const earlier = `${'x'.repeat(79)}\n`.repeat(6000);
    const run = await step({
      task: FINDINGS,
      summary: earlier,
      replies: [reply.text(JSON.stringify({ findings }), { delta_size: 100_000 })],
    });
    expect(run.code).toBe(0);
    expect(Buffer.byteLength(run.summary)).toBeLessThanOrEqual(1_000_000);
    expect(run.summary.startsWith(earlier)).toBe(true);
    expect(run.summary).toMatch(/summary\.md|output\.json/);
  });
});

describe('the log', () => {
  test('B141: holds no command from tool output or from the model, on either stream', async () => {
    const hostile = [
      '::error::gotcha',
      '##[group]x',
      ' ::add-mask::x',
      'a\r::stop-commands::t',
      '::set-output name=a::b',
      '##vso[task.x]',
    ].join('\n');
    const run = await step({
      task: { tools: { read_file: {}, bash: { allow: ['cat *'] } } },
      inputs: { args: '--verbose' },
      files: { 'hostile.txt': hostile },
      replies: [
        reply.message({
          content: [
            { type: 'text', text: hostile },
            { type: 'tool_use', name: 'bash', input: { command: 'cat hostile.txt' } },
            { type: 'tool_use', name: 'bash', input: { command: `echo '${hostile}'` } },
            { type: 'tool_use', name: hostile.slice(0, 30).replaceAll(/[^a-z]/g, '_'), input: {} },
          ],
        }),
        hostile,
      ],
    });
    expect(run.code).toBe(0);
    expect(run.commands.filter((line) => !line.startsWith('::add-mask::'))).toEqual([]);
  });

  test('B143: masks each line of a secret before anything else is said, short ones not', async () => {
    const lines = ['first-line-of-the-key', 'abc', 'second-line-of-the-key', ''];
    const run = await step({ inputs: { 'anthropic-api-key': lines.join('\n') } });
    expect(run.code).toBe(2);
    const { stdout } = run;
    const masks = stdout.split('\n').filter((line) => line.startsWith('::add-mask::'));
    expect(masks).toEqual(['::add-mask::first-line-of-the-key', '::add-mask::second-line-of-the-key']);
    expect(stdout.split('\n').slice(0, 2)).toEqual(masks);
  });
});
