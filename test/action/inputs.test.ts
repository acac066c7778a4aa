import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { INPUT_NAMES } from '../../src/action/input-names.ts';
import { readFailOn, readInputs } from '../../src/action/inputs.ts';
import { mergeOptions } from '../../src/config/merge.ts';
import { isJsonObject } from '../../src/core/json.ts';
import { readText } from '../helpers/pages.ts';

const getter =
  (values: Record<string, string>) =>
  (name: string): string =>
    values[name] ?? '';
const read = async (values: Record<string, string>) => readInputs(getter({ task: 'task.json', ...values }));
const valuesOf = async (inputs: string): Promise<string[]> => (await read({ inputs })).inputs.map(({ value }) => value);

describe('inputs of the action', () => {
  test('are all declared in action.yml, and no other is', async () => {
    const action: unknown = parse(readText('action.yml'));
    const declared = isJsonObject(action) && isJsonObject(action['inputs']) ? Object.keys(action['inputs']) : [];
    const asked = new Set<string>();
    const get = (name: string): string => {
      asked.add(name);
      return name === 'task' ? 'task.json' : '';
    };
    await readInputs(get);
    readFailOn(get);
    expect([...asked].sort()).toEqual(declared.sort());
    expect([...INPUT_NAMES].sort()).toEqual(declared);
  });

  test('have defaults that an empty step gets', async () => {
    expect(await read({})).toMatchObject({
      flags: {},
      inputs: [],
      annotations: true,
      summary: true,
      sandbox_required: false,
    });
    expect(readFailOn(getter({}))).toBe('error');
  });

  test.each([
    [{ task: '' }, 'the input "task" is missing'],
    [{ task: '-' }, 'has no standard input'],
    [{ sandbox: 'off' }, 'only the task can switch it off'],
    [{ sandbox: 'require' }, 'expected one of "auto", "required"'],
    [{ 'federation-rule-id': 'fdrl_1' }, '"federation-rule-id" is given, but "organization-id" is missing'],
    [{ 'workspace-id': 'wrkspc_1' }, '"workspace-id" is given, but "federation-rule-id" is missing'],
    [{ 'federation-rule-id': 'a', 'organization-id': 'b', 'anthropic-api-key': 'c' }, 'are both given; keep one'],
    [{ 'comment-key': 'k'.repeat(101) }, 'expected at most 100'],
    [{ 'allowed-associations': 'OWNERS' }, 'found "OWNERS", expected "any" or words of OWNER,'],
    [{ summary: 'maybe' }, 'the input "summary": found "maybe"'],
  ])('refuse %j with a sentence', async (values, message) => {
    await expect(read(values)).rejects.toThrow(message);
  });

  test('know three words for what fails the step', () => {
    expect(readFailOn(getter({ 'fail-on': 'verdict' }))).toBe('verdict');
    expect(() => readFailOn(getter({ 'fail-on': 'verdicts' }))).toThrow('"verdict"');
  });
});

describe('values for the task', () => {
  test('are lines of name=value', async () => {
    expect(await valuesOf('base=main\n  title=a = b  \n\n')).toEqual(['base=main', 'title=a = b  ']);
  });

  test('may be a YAML or a JSON map, with line breaks in a value', async () => {
    expect(await valuesOf('base: main\nbody: |\n  one\n  two=2\n')).toEqual(['base=main', 'body=one\ntwo=2\n']);
    expect(await valuesOf('{"base": "main", "body": "one\\ntwo"}')).toEqual(['base=main', 'body=one\ntwo']);
  });

  test('may be numbers and booleans, which stay as they are written', async () => {
    const yaml = 'version: 1.10\nbuild: 0123\nbig: 12345678901234567890\ndraft: true\nname: x # 1\n';
    const read = ['version=1.10', 'build=0123', 'big=12345678901234567890', 'draft=true', 'name=x'];
    expect(await valuesOf(yaml)).toEqual(read);
    expect(await valuesOf('{"b": 1, "v": 1.10, /* not */ "draft": false, "t": "1.10",}')).toEqual([
      'b=1',
      'v=1.10',
      'draft=false',
      't=1.10',
    ]);
  });

  test.each([
    ['a list', 'paths: [a, b]'],
    ['a map', '{"a": {"b": 1}}'],
    ['nothing', 'base:'],
  ])('are never %s', async (_what, inputs) => {
    await expect(read({ inputs })).rejects.toThrow('expected a text, a number, true or false');
  });

  test('read no file, whatever they begin with', async () => {
    const { inputs } = await read({ inputs: 'body=@/etc/passwd' });
    expect(inputs).toEqual([{ value: 'body=@/etc/passwd', origin: 'the input "inputs"', reads_files: false }]);
  });

  test('that are neither lines nor a map are refused', async () => {
    await expect(read({ inputs: 'just words' })).rejects.toThrow('neither lines of name=value nor a map');
  });
});

describe('options', () => {
  test('come from their inputs and from args, one a line', async () => {
    const { flags } = await read({ 'max-turns': '5', args: '--keep=3\n--verbose\n--untrusted\n--out\nfolder name' });
    expect(mergeOptions(flags, {})).toMatchObject({
      max_turns: 5,
      keep: 3,
      verbose: true,
      untrusted: true,
      out: 'folder name',
    });
  });

  test('that are given twice are refused', async () => {
    const { flags } = await read({ 'max-turns': '5', args: '--max-turns=9' });
    expect(() => mergeOptions(flags, {})).toThrow('--max-turns: found "5" and "9", expected it once');
  });

  test.each([
    ['--keep 3', 'one option a line'],
    ['--kep=3', 'did you mean "keep"'],
    ['--verbose=1', '"--verbose" alone'],
    ['--out', '"--out=VALUE"'],
    ['--input=a=b', '"--input" is not for a step: values have the input "inputs"'],
    ['--format=json', '"--format" is not for a step'],
    ['--color\nalways', '"--color" is not for a step'],
    ['--dry-run', '"--dry-run" is not for a step'],
    ['rm -rf /', 'one option a line'],
  ])('in args written as %s are refused', async (args, message) => {
    await expect(read({ args })).rejects.toThrow(message);
  });
});
