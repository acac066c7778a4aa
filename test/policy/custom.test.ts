import { describe, expect, test } from 'vitest';
import type { CustomToolConfig } from '../../src/core/config.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { createPolicy } from '../../src/policy/policy.ts';
import { createFiles } from '../../src/workspace/files.ts';
import { tempFolder } from '../helpers/temp.ts';

const PARAMETERS = ['a', 'b', 'n', 'fix', 'files', 'object'];

function custom(command: string[], changes: Partial<CustomToolConfig> = {}): CustomToolConfig {
  const properties = Object.fromEntries(PARAMETERS.map((name) => [name, {}]));
  return {
    name: 'tool',
    description: 'd',
    input_schema: { type: 'object', properties },
    command,
    effect: 'write',
    ok_exit_codes: [0],
    max_output_bytes: 1000,
    on_denied: 'continue',
    ...changes,
  };
}

async function judge(tool: CustomToolConfig, input: JsonObject, name = tool.name) {
  const files = await createFiles(tempFolder());
  return createPolicy({ rules: [], custom_tools: [tool], files, protectedFiles: [] }).judge({ id: '1', name, input });
}

async function argv(command: string[], input: JsonObject): Promise<unknown> {
  const judgement = await judge(custom(['run', ...command]), input);
  if (judgement.verdict !== 'allow') return judgement.reason;
  return judgement.plan.kind === 'argv' ? judgement.plan.argv.slice(1) : judgement.plan.kind;
}

describe('a call of a custom tool', () => {
  test('is allowed by its definition, and its plan is the whole command', async () => {
    const tool = custom(['lint', '--format', 'json', '{{ a }}'], { effect: 'read', stdin: '<{{ b }}>' });
    expect(await judge(tool, { a: 'src/a.ts', b: '-x\n' })).toEqual({
      verdict: 'allow',
      rule: 'custom_tools tool',
      plan: { kind: 'argv', effect: 'read', argv: ['lint', '--format', 'json', 'src/a.ts'], stdin: '<-x\n>' },
    });
    expect(await judge(tool, { a: 'x' }, 'other')).toMatchObject({
      verdict: 'deny',
      reason: expect.stringContaining('allowed tools: tool'),
    });
  });

  test.each([
    ['$(touch pwned)'],
    ['`id`; rm -rf / && echo "x" | tee \'y\' > z'],
    ['{{ b }}{% raw %}{{ env.HOME }}'],
    ['line one\nline two\r\n'],
    [' -x'],
    ['\u2014fix \u202E 😀'],
    ['x'.repeat(100_000)],
    ['/etc/passwd'],
    [''],
  ])('hands a text on as one argument and as it is: %j', async (a) => {
    expect(await argv(['{{ a }}', '--opt={{ a }}', 'x{{ a }}'], { a })).toEqual([a, `--opt=${a}`, `x${a}`]);
  });

  test.each<[string[], JsonObject, unknown]>([
    [['{{ n }}', '-n{{ n }}', '{{ fix }}'], { n: 5, fix: true }, ['5', '-n5', 'true']],
    [['{{ n }}'], { n: 1.5 }, ['1.5']],
    [['{{ files }}', 'end'], { files: ['a b', 'c', 3] }, ['a b', 'c', '3', 'end']],
    [['{{ files }}', 'end'], { files: [] }, ['end']],
    [['--files={{ files | join: "," }}'], { files: ['a', 'b'] }, ['--files=a,b']],
    [['{{ object | json }}'], { object: { k: 1 } }, ['{"k":1}']],
  ])('writes numbers, truth values, lists and objects: %j', async (command, input, expected) => {
    expect(await argv(command, input)).toEqual(expected);
  });

  test.each<[string[], JsonObject, string[]]>([
    [['x', '{{ a }}', 'y'], {}, ['x', 'y']],
    [['{{ a }}'], { a: null }, []],
    [['{{ a | upcase }}'], {}, []],
    [['{{ a }}{{ b }}'], {}, []],
    [['{{ a }}'], { a: '' }, ['']],
    [['--a={{ a }}'], {}, ['--a=']],
    [['{% if fix %}--fix{% endif %}'], { fix: false }, []],
    [['{% if fix %}--fix{% endif %}'], { fix: true }, ['--fix']],
    [['{% if a %}--a={{ a }}{% endif %}'], { a: '-x' }, ['--a=-x']],
    [['', '{{ a | default: "none" }}'], {}, ['', 'none']],
  ])('drops an argument that nothing was given for: %j with %j', async (command, input, expected) => {
    expect(await argv(command, input)).toEqual(expected);
  });
});

describe('a value never becomes an option', () => {
  test.each<[string, JsonObject]>([
    ['{{ a }}', { a: '--fix' }],
    ['{{ a }}', { a: '-' }],
    ['{{ a }}', { a: '-n5' }],
    ['{{ n }}', { n: -5 }],
    ['{{ a }}.ts', { a: '--out=x' }],
    ['{{ a }}{{ b }}', { b: '-x' }],
    ['{{ a | strip }}', { a: '  -x' }],
    ['{% if a %}{{ a }}{% endif %}', { a: '-x' }],
    ['{% for f in files %}{{ f }}{% endfor %}', { files: ['-x'] }],
    ['{{ files }}', { files: ['ok', '-rf'] }],
    ['--{{ a }}', { a: 'exec=id' }],
    ['-{{ a }}', { a: 'n5' }],
    ['-v{{ a }}', { a: 'rf' }],
    ['-n{{ n }}', { n: -5 }],
    ['--no{{ a }}', { a: '-verify' }],
    ['{% if fix %}--{% endif %}{{ a }}', { fix: true, a: 'exec' }],
    ['{{ a | append: "x" }}', { a: '-' }],
    ['{{ a | slice: 1, 3 }}', { a: 'x-y' }],
  ])('%s with %j is denied', async (template, input) => {
    expect(await argv(['--', template], input)).toMatch(/^tool: .* a value never becomes an option; give a value/);
  });

  test('and a refusal ends the run when the task says so', async () => {
    const judgement = await judge(custom(['x', '{{ a }}'], { on_denied: 'fail' }), { a: '-x' });
    expect(judgement).toMatchObject({ verdict: 'terminate', rule: 'custom_tools tool' });
  });
});

test.each<[string, JsonObject, string]>([
  ['{{ a }}', { a: 'x\0y' }, 'NUL'],
  ['{{ files }}', { files: ['x\0y'] }, 'NUL'],
  ['{{ files }}', { files: [['nested']] }, 'more than plain values'],
  ['{{ files }}', { files: [null] }, 'more than plain values'],
  ['x{{ files }}', { files: ['a'] }, 'a list is no text'],
  ['{{ object }}', { object: {} }, 'an object is no text'],
])('what no argument can hold is denied: %s with %j', async (template, input, reason) => {
  expect(await argv([template], input)).toContain(reason);
  expect(await judge(custom(['cat'], { stdin: template }), input)).toMatchObject({ verdict: 'deny' });
});

test('only declared parameters are seen, whatever else the input holds', async () => {
  const tool = custom(['x', '{{ a }}'], { input_schema: { type: 'object', properties: { a: {} } } });
  const input = JSON.parse('{"b":"y","constructor":"c","inputs":{"x":1}}') as JsonObject;
  expect(await judge(tool, input)).toMatchObject({ plan: { argv: ['x'] } });
});
