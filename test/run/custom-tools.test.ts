import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { plan } from '../../src/run/plan.ts';
import { run } from '../../src/run/run.ts';
import { calls, configOf, ofType, tell, told as toldOf } from './harness.ts';
import type { Story } from './harness.ts';

const text = (name: string): Record<string, unknown> => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
});

/** Prints each argument behind the script as JSON, then its input. */
const SHOW = `const fs = require('node:fs');
console.log(JSON.stringify(process.argv.slice(2)));
console.log(JSON.stringify(fs.readFileSync(0, 'utf8')));`;

const SHOWN = {
  name: 'show',
  description: 'Shows its arguments.',
  input_schema: { type: 'object', properties: { a: {}, n: {}, body: { type: 'string' } } },
  command: ['node', 'show.js', '{{ a }}', '--n={{ n }}'],
  stdin: '{{ body }}',
  effect: 'read',
  max_output: '1MB',
};

function story(custom_tools: unknown[], turns: Story['turns'], task: Record<string, unknown> = {}): Story {
  return { task: { custom_tools, ...task }, turns: [...(turns ?? []), { text: 'done' }], files: { 'show.js': SHOW } };
}

async function show(input: Record<string, unknown>, tool: Record<string, unknown> = {}) {
  const told = await tell(story([{ ...SHOWN, ...tool }], [calls(['show', input])]));
  const [end] = ofType(told.events, 'tool_end');
  return { told, end, shown: (end?.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('') };
}

describe('a run with custom tools', () => {
  test.each([
    ['$(touch pwned) `touch pwned`; touch pwned & touch pwned | tee pwned > pwned'],
    [`it's "quoted" \\ and \\n`],
    ['line one\nline two\r\n\ttab'],
    ['{{ n }}{% raw %}{{ env.HOME }}{% assign x = 1 %}'],
    ['grüße 😀 \u202Etxt.exe\u200B'],
    ['* ~ ?.js [a-z] !!'],
    ['constructor __proto__'],
    [''],
  ])('hands a value to its program to the letter: %j', async (value) => {
    const { told, shown } = await show({ a: value, n: value, body: value });
    expect(shown).toBe(`${JSON.stringify([value, `--n=${value}`])}\n${JSON.stringify(value)}`);
    expect(readdirSync(told.workspace).sort()).toEqual(['README.md', 'show.js']);
    expect(told.outcome.reason).toBe('completed');
  });

  test('takes a text of 100 KB as argument and as input', async () => {
    const value = `${'0123456789'.repeat(10_000)}$(x)`;
    const { shown } = await show({ a: value, body: value });
    expect(shown).toBe(`${JSON.stringify([value, '--n='])}\n${JSON.stringify(value)}`);
  });

  test('drops what was not given and writes numbers as they are', async () => {
    expect((await show({})).shown).toBe('["--n="]\n""');
    expect((await show({ a: ['x y', 2], n: 1.5 })).shown).toBe('["x y","2","--n=1.5"]\n""');
  });

  test.each([['-rf'], ['--output=/etc/passwd'], [-5], [['ok', '-x']]])(
    'denies %j where it would be an option, and goes on',
    async (a) => {
      const { told, end, shown } = await show({ a });
      expect(end).toMatchObject({ name: 'show', status: 'denied', is_error: true });
      expect(shown).toContain('a value never becomes an option');
      expect(told.result).toMatchObject({
        exit_code: 0,
        tool_calls: { total: 1, denied: 1 },
        denials: [{ tool: 'show', rule: 'custom_tools show' }],
      });
    },
  );

  test('ends at a denied call when the task says so', async () => {
    const { told } = await show({ a: '-x' }, { on_denied: 'fail' });
    expect(told).toMatchObject({ exit_code: 5, outcome: { reason: 'denied' } });
  });

  test.each([
    [{ input_json: '{"a":"x","__proto__":{"n":"y"}}' }, '__proto__'],
    [{ input_json: String.raw`{"a":"x\u0000y"}` }, 'NUL'],
    [{ input_json: '{"body":5}' }, '/body'],
    [{ input_json: '{"a":"x","a":"y"}' }, 'twice'],
  ])('answers an input that its schema or JSON refuses: %j', async (input, reason) => {
    const told = await tell(story([SHOWN], [{ tool_use: [{ name: 'show', ...input }] }]));
    expect(ofType(told.events, 'tool_end')).toMatchObject([{ status: 'invalid', is_error: true }]);
    expect(JSON.stringify(ofType(told.events, 'tool_end'))).toContain(reason);
    expect(ofType(told.events, 'tool_start')).toEqual([]);
  });
});

describe('what a custom tool does in a run', () => {
  const save = {
    name: 'save',
    description: 'Writes a file.',
    input_schema: { type: 'object', properties: { path: { type: 'string' }, body: { type: 'string' } } },
    command: ['tee', '{{ path }}'],
    stdin: '{{ body }}',
  };

  test('is recorded: its calls by name, its effect, and the files it changed', async () => {
    const turn = calls(['save', { path: 'new.txt', body: 'one\n' }], ['save', { path: '-a' }]);
    const { config, folder, workspace } = await configOf(story([save], [turn]));
    execFileSync('git', ['init', '-q', workspace]);
    const env = { PATH: process.env['PATH'] ?? '' };
    const told = toldOf(await run({ config, env, cwd: folder, subscribers: () => [] }), workspace);
    expect(told.artifact('changes.patch')).toContain('+one');
    expect(readFileSync(join(told.workspace, 'new.txt'), 'utf8')).toBe('one\n');
    expect(ofType(told.events, 'tool_start')).toMatchObject([{ name: 'save', effect: 'write', early: false }]);
    expect(JSON.parse(told.artifact('usage.json') ?? '')).toMatchObject({ tools: { save: {} } });
    expect(told.events[0]).toMatchObject({
      task: { custom_tools: [{ name: 'save', command: ['tee', '{{ path }}'], stdin: '{{ body }}' }] },
      tools: [{ name: 'save', input_schema: save.input_schema }],
    });
  });

  test('has its own exit codes, timeout, size and number of calls', async () => {
    const tool = (name: string, script: string, more: object) => {
      return { name, description: 'x', input_schema: { type: 'object' }, command: ['sh', '-c', script], ...more };
    };
    const tools = [
      tool('code', 'echo found; exit 1', { ok_exit_codes: [0, 1] }),
      tool('slow', 'echo begun; sleep 30', { timeout: '300ms' }),
      tool('long', 'seq 1 5000', { max_output: '500B', max_calls: 1 }),
    ];
    const told = await tell(story(tools, [calls(['code', {}], ['slow', {}], ['long', {}], ['long', {}])]));
    expect(ofType(told.events, 'tool_end')).toMatchObject([
      { name: 'code', status: 'ok', is_error: false, content: [{ text: 'found\n[exit code 1]' }] },
      { name: 'slow', status: 'timed_out', is_error: true },
      { name: 'long', status: 'ok', output_file: expect.stringContaining('outputs/') },
      { name: 'long', status: 'over_limit', is_error: true },
    ]);
  });

  test('runs beside other reads when it only reads, and alone when it has effects', async () => {
    const gate = (name: string, effect: string, other: string) => {
      const script = `touch ${name}; for i in $(seq 40); do test -e ${other} && exit 0; sleep 0.05; done; exit 7`;
      return { name, description: 'x', input_schema: { type: 'object' }, command: ['sh', '-c', script], effect };
    };
    const both = (effect: string) =>
      tell(story([gate('left', effect, 'right'), gate('right', effect, 'left')], [calls(['left', {}], ['right', {}])]));
    expect(ofType((await both('read')).events, 'tool_end')).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
    expect(ofType((await both('write')).events, 'tool_end')).toMatchObject([{ status: 'error' }, { status: 'ok' }]);
  }, 30_000);

  test('sees no secret of the runner and shows none', async () => {
    const tool = {
      name: 'leak',
      description: 'x',
      input_schema: text('a'),
      command: ['sh', '-c', 'env; echo "$1"', 'sh', '{{ a }}'],
    };
    const secret = 'sk-ant-api03-0123456789abcdefghij';
    const told = await tell({ ...story([tool], [calls(['leak', { a: secret }])]), env: { ANTHROPIC_API_KEY: secret } });
    expect(ofType(told.events, 'tool_end')).toMatchObject([{ status: 'ok' }]);
    expect(told.artifact('transcript.jsonl')).not.toContain(secret);
    expect(JSON.stringify(ofType(told.events, 'tool_end'))).not.toContain('ANTHROPIC_API_KEY');
  });

  test('starts processes, so an untrusted run needs a sandbox for it', async () => {
    const told = await tell({
      ...story([SHOWN], [], { sandbox: { mode: 'off' } }),
      flags: { untrusted: true },
    });
    expect(told.outcome.reason).toBe('sandbox_unavailable');
  });
});

test('a plan names custom tools beside the others', async () => {
  const { config, folder } = await configOf(story([SHOWN], [], { tools: { read_file: {} } }));
  const report = await plan({ config, env: { PATH: process.env['PATH'] }, cwd: folder });
  expect(report.tools).toEqual(['read_file', 'show']);
});
