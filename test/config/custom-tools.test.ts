import { describe, expect, test } from 'vitest';
import { tempFolder } from '../helpers/temp.ts';
import { load, refusal } from './loading.ts';

const INPUT = {
  type: 'object',
  properties: {
    file: { type: 'string' },
    files: { type: 'array', items: { type: 'string' } },
    max: { type: 'integer' },
    options: { type: 'object' },
  },
  required: ['file'],
};
const LINT = { name: 'lint', description: 'Lints.', input_schema: INPUT, command: ['npx', 'eslint', '{{ file }}'] };

function taskOf(custom_tools: unknown): Record<string, string> {
  return { 'task.json': JSON.stringify({ prompt: 'x', model: 'm', custom_tools }, null, 1) };
}

async function refused(changes: Record<string, unknown>): Promise<string> {
  return refusal({ folder: tempFolder(), files: taskOf([{ ...LINT, ...changes }]) });
}

async function accepted(changes: Record<string, unknown>) {
  return (await load({ folder: tempFolder(), files: taskOf([{ ...LINT, ...changes }]) })).task.custom_tools;
}

describe('custom tools of a task', () => {
  test('stand in it whole, with their defaults', async () => {
    expect(await accepted({})).toEqual([
      { ...LINT, effect: 'write', ok_exit_codes: [0], max_output_bytes: 30_720, on_denied: 'continue' },
    ]);
    const said = { stdin: '{{ file }}', effect: 'read', ok_exit_codes: [0, 1] };
    const limits = { timeout: '60s', max_output: '1KiB', max_calls: 2, on_denied: 'fail' };
    expect(await accepted({ ...said, ...limits })).toEqual([
      { ...LINT, ...said, timeout_ms: 60_000, max_output_bytes: 1024, max_calls: 2, on_denied: 'fail' },
    ]);
    expect((await load({ folder: tempFolder(), files: taskOf(undefined) })).task.custom_tools).toEqual([]);
  });

  test('are never interpolated when the task is loaded, whatever their templates are called', async () => {
    const input_schema = { type: 'object', properties: { inputs: { type: 'object' } } };
    const command = ['x', '{{ inputs.base }}', '{% raw %}{{ env.HOME }}{% endraw %}'];
    expect(await accepted({ input_schema, command })).toMatchObject([{ command }]);
  });

  test.each([
    ['9x', 'name the model calls it by'],
    ['', 'name the model calls it by'],
    ['a b', 'name the model calls it by'],
    ['x'.repeat(65), 'name the model calls it by'],
    ['bash', 'a built-in tool is called so'],
    ['read_file', 'a built-in tool is called so'],
    ['submit_result', 'the tool that takes the output is called so'],
    ['mcp__docs__search', 'does not begin with "mcp__"'],
  ])('cannot be called %j', async (name, expected) => {
    const message = await refused({ name });
    expect(message).toContain(expected);
    expect(message).toMatch(/^task\.json:6:\d+ \(\/custom_tools\/0\/name\): found /);
  });

  test('need a name of their own each', async () => {
    const message = await refusal({ folder: tempFolder(), files: taskOf([LINT, { ...LINT, name: 'b' }, LINT]) });
    expect(message).toContain('(/custom_tools/2/name): found "lint", expected another name: custom_tools[0]');
  });

  test.each<[string, unknown, string]>([
    ['a type that is none', { type: 'object', properties: { a: { type: 'text' } } }, '/properties/a/type'],
    ['a broken pattern', { type: 'object', properties: { a: { pattern: '(' } } }, '/properties/a/pattern'],
    ['a reference to nowhere', { type: 'object', properties: { a: { $ref: '#/no' } } }, '/properties/a/$ref'],
    ['a remote reference', { type: 'object', properties: { a: { $ref: 'http://a.example/b' } } }, '/properties/a/$ref'],
    ['another draft', { type: 'object', $schema: 'http://example.com/x' }, '/$schema'],
    ['a list at its root', { type: 'array' }, '/type'],
    ['no type', { properties: {} }, ''],
    ['true', true, ''],
    ['a choice at its root', { type: 'object', anyOf: [{}] }, '/anyOf'],
    ['a name that no service takes', { type: 'object', properties: { 'a b': {} } }, '/properties/a b'],
  ])('cannot have a schema with %s', async (_what, input_schema, pointer) => {
    const message = await refused({ input_schema, command: ['x'] });
    expect(message).toMatch(/^task\.json:\d+:\d+ /);
    expect(message).toContain(`(/custom_tools/0/input_schema${pointer})`);
  });

  test('name the tool whose schema does not compile', async () => {
    const input_schema = { type: 'object', properties: { a: { type: 'text' } } };
    expect(await refused({ input_schema, command: ['x'] })).toContain(
      'input_schema of the tool "lint" does not compile',
    );
  });
});

describe('the command of a custom tool', () => {
  test.each<[string[]]>([
    [['x', '{{ file }}', '--max={{ max }}', '-n{{ max }}', '{{ files }}', '--files={{ files | join: "," }}']],
    [['x', '{% if max %}--max={{ max }}{% endif %}', '{{ options | json }}']],
    [['sh', '-c', 'grep -- "$1" log.txt', 'sh', '{{ file }}']],
    [['python3', 'lint.py', '-c', '{{ file }}']],
    [['node', '--test', '{{ file }}']],
    [['grep', '-e', '{{ file }}']],
    [['x', '']],
  ])('may be %j', async (command) => {
    expect(await accepted({ command })).toMatchObject([{ command }]);
  });

  test.each<[string[], string]>([
    [['x', '{{ fil }}'], '"fil" is no parameter of the tool; expected one of "file"'],
    [['x', '{{ fil }}'], 'did you mean "file"'],
    [['x', '{{ inputs.base }}'], '"inputs" is no parameter'],
    [['x', '{{ env.HOME }}'], '"env" is no parameter'],
    [['x', '{{ file | nope }}'], 'undefined filter'],
    [['x', '{{ file'], 'line 1, column 1'],
    [['x', '--{{ file }}'], 'a value never becomes an option'],
    [['x', '-f{{ file }}'], 'a value never becomes an option'],
    [['x', '--name{{ file }}'], 'a value never becomes an option'],
    [['x', '{{ options }}'], '{{ options | json }}'],
    [['x', 'a{{ files }}'], '| join: ","'],
    [['sh', '-c', 'eslint {{ file }}'], 'would run the value as code'],
    [['/bin/bash', '-euo', 'pipefail', '-c', '{{ file }}'], 'would run the value as code'],
    [['env', 'A=b', 'bash', '-ec', '{{ file }}'], 'would run the value as code'],
    [['python3.12', '-c', 'print("{{ file }}")'], 'would run the value as code'],
    [['node', '--eval={{ file }}'], 'would run the value as code'],
    [['node', '-pe', '{{ file }}'], 'would run the value as code'],
    [['x', 'a\0b'], 'NUL'],
  ])('cannot be %j', async (command, expected) => {
    const message = await refused({ command });
    expect(message).toContain(expected);
    expect(message).toContain(`(/custom_tools/0/command/${command.length - 1}): `);
  });

  test('names its program itself', async () => {
    expect(await refused({ command: ['{{ file }}'] })).toContain(
      '(/custom_tools/0/command/0): found "{{ file }}", expected the name of a program',
    );
    expect(await refused({ command: [] })).toContain('expected a list that is not empty');
    expect(await refused({ command: [''] })).toContain('expected a text that is not empty');
  });

  test.each([
    ['{{ nope }}', ['cat'], 'is no parameter'],
    ['{{ files }}', ['cat'], '| join: ","'],
    ['{{ file }}', ['sh'], 'would run the value as code'],
    ['{{ file }}', ['python3', '-'], 'would run the value as code'],
  ])('cannot take %s as the input of %j', async (stdin, command, expected) => {
    const message = await refused({ stdin, command });
    expect(message).toContain(expected);
    expect(message).toContain('(/custom_tools/0/stdin): ');
  });
});

test.each<[Record<string, unknown>, string]>([
  [{ effect: 'none' }, 'expected one of "read", "write"'],
  [{ ok_exit_codes: [256] }, 'at most 255'],
  [{ ok_exit_codes: [] }, 'a list that is not empty'],
  [{ timeout: '0s' }, 'above zero'],
  [{ timeout: '99999h' }, 'at most 2147483647ms'],
  [{ max_output: '0B' }, 'at least 1B'],
  [{ comand: ['x'] }, 'did you mean "command"'],
  [{ description: 'For {{ inputs.base }}.' }, 'expected a text without templates'],
])('a field that says %j is refused with its place', async (changes, expected) => {
  const message = await refused(changes);
  expect(message).toContain(expected);
  expect(message).toMatch(/^task\.json:\d+:\d+ \(\/custom_tools\/0\//);
});
