import { describe, expect, test } from 'vitest';
import { tempFolder } from '../helpers/temp.ts';
import { load, refusal } from './loading.ts';

const INPUTS = { base: { default: 'main' }, level: { enum: ['low', 'high'] }, sha: { pattern: '^[0-9a-f]{7}$' } };

function files(fields: object = {}): Record<string, string> {
  return { 'task.json': JSON.stringify({ prompt: 'P {{ inputs.base }}', model: 'm', inputs: INPUTS, ...fields }) };
}

describe('inputs', () => {
  test('have their default, the variable, then the flag', async () => {
    const folder = tempFolder();
    const prompt = async (flags: object, env: Record<string, string>): Promise<string[]> =>
      (await load({ folder, files: files(), flags, env })).task.prompts;
    expect(await prompt({}, {})).toEqual(['P main']);
    expect(await prompt({}, { AGENT_RUN_INPUT: 'base=env\nlevel=low' })).toEqual(['P env']);
    expect(await prompt({ input: ['base=a=b'] }, { AGENT_RUN_INPUT: 'base=env' })).toEqual(['P a=b']);
  });

  test('are read from a file or from standard input, without the last line break', async () => {
    const folder = tempFolder();
    const flags = { input: ['base=@base.txt'] };
    const one = await load({ folder, files: { ...files(), 'base.txt': 'from file\n' }, flags });
    expect(one.task.inputs['base']).toBe('from file');
    const two = await load({ folder, flags: { input: ['base=@-'] }, stdin: 'from stdin\n\n' });
    expect(two.task.inputs['base']).toBe('from stdin\n');
    const three = await load({ folder, flags: { input: ['base=@@octocat'] } });
    expect(three.task.inputs['base']).toBe('@octocat');
  });

  test("of a variable never read a file: its words may be a stranger's", async () => {
    const env = { AGENT_RUN_INPUT: 'base=@/etc/passwd' };
    expect((await load({ folder: tempFolder(), files: files(), env })).task.inputs['base']).toBe('@/etc/passwd');
  });

  test('are all in the record, those that were not given as empty texts', async () => {
    const { task } = await load({ folder: tempFolder(), files: files() });
    expect(task.inputs).toEqual({ base: 'main', level: '', sha: '' });
  });

  test.each([
    ['an unknown name', ['bas=x'], ['unknown input "bas"', 'did you mean "base"?']],
    ['no value', ['base'], ['found "base"', 'NAME=VALUE']],
    ['no name', ['=x'], ['NAME=VALUE']],
    ['a name given twice', ['base=a', 'base=b'], ['"base" is given twice']],
    ['a value outside the list', ['level=hgih'], ['--input level: found "hgih"', 'did you mean "high"?']],
    ['a value against the pattern', ['sha=xyz'], ['--input sha: found "xyz"', '^[0-9a-f]{7}$']],
    ['a missing file', ['base=@nope.txt'], ['cannot read "nope.txt": no such file']],
    ["a file of the runner's own process", ['base=@/proc/self/environ'], ['/proc are not read']],
    ['a NUL character', ['base=a\0b'], ['NUL']],
  ])('refuse %s', async (_what, input, parts) => {
    const message = await refusal({ folder: tempFolder(), files: files(), flags: { input } });
    for (const part of parts) expect(message).toContain(part);
  });

  test('refuse standard input for two things', async () => {
    const stdin = files()['task.json'] ?? '';
    const message = await refusal({ folder: tempFolder(), file: '-', stdin, flags: { input: ['base=@-'] } });
    expect(message).toContain('standard input was already read for the task');
  });

  test('give up on a pattern that a value keeps busy', async () => {
    const inputs = { a: { pattern: '^(a+)+$' } };
    const flags = { input: [`a=${'a'.repeat(40)}!`] };
    const started = Date.now();
    expect(await refusal({ folder: tempFolder(), files: files({ inputs, prompt: 'x' }), flags })).toContain('^(a+)+$');
    expect(Date.now() - started).toBeLessThan(5000);
  });
});

describe('a hostile value', () => {
  const hostile = [
    '{{ inputs.other }}',
    '{% for i in (1..9) %}x{% endfor %}',
    '{{ env.HOME }}',
    '</untrusted>',
    '$(touch pwn)',
    "'; rm -rf /",
  ];

  test.each(hostile)('stays what it is: %s', async (value) => {
    const inputs = { value: {}, other: { default: 'SECRET' } };
    const fields = {
      inputs,
      prompt: 'See {{ inputs.value }}.',
      system: '{{ inputs.value }}',
      context: [{ command: ['echo', '--text={{ inputs.value }}', '{{ inputs.value }}'] }],
      verify: [{ run: ['test', '{{ inputs.value }}'] }],
    };
    const { task } = await load({ folder: tempFolder(), files: files(fields), flags: { input: [`value=${value}`] } });
    expect(task.prompts).toEqual([`See ${value}.`]);
    expect(task.system).toBe(value);
    expect(task.context).toMatchObject([{ kind: 'command', argv: ['echo', `--text=${value}`, value] }]);
    expect(task.verify[0]?.run).toEqual(['test', value]);
  });

  test.each([
    ['a diff base', { context: [{ git: 'diff', base: '{{ inputs.value }}' }] }, '--output=/tmp/x'],
    ['a diff head behind dashes', { context: [{ git: 'diff', base: 'a', head: '--{{ inputs.value }}' }] }, 'output=x'],
    ['a path', { context: [{ git: 'log', paths: ['{{ inputs.value }}'] }] }, ':(top)secret'],
    ['an excluding glob', { context: [{ files: ['{{ inputs.value }}'] }] }, '!docs/**'],
    ['an argument', { context: [{ command: ['git', 'log', '{{ inputs.value }}'] }] }, '--output=x'],
    ['a verify argument', { verify: [{ run: ['npm', '{{ inputs.value }}'] }] }, '-g'],
  ])('never becomes an option of %s', async (_where, fields, value) => {
    const given = { folder: tempFolder(), files: files({ inputs: { value: {} }, prompt: 'x', ...fields }) };
    const message = await refusal({ ...given, flags: { input: [`value=${value}`] } });
    expect(message).toMatch(/^task\.json:1:\d+ .*a value never becomes an option$/);
  });

  test('that is empty is no commit', async () => {
    const fields = { inputs: { value: {} }, prompt: 'x', context: [{ git: 'diff', base: '{{ inputs.value }}' }] };
    expect(await refusal({ folder: tempFolder(), files: files(fields) })).toContain('expected a commit');
  });
});

describe('a file that the task names', () => {
  test('is interpolated, and its mistakes are told with both files', async () => {
    const fields = { prompt: { file: 'prompt.md' } };
    const folder = tempFolder();
    const good = await load({ folder, files: { ...files(fields), 'prompt.md': 'See {{ inputs.base }}' } });
    expect(good.task.prompts).toEqual(['See main']);
    const message = await refusal({ folder, files: { 'prompt.md': 'One\n two {{ inputs.bse }}' } });
    expect(message).toMatch(
      /^prompt\.md:2:9: "inputs\.bse" is unknown.*named by task\.json:1:\d+ \(\/prompt\/file\)\)$/,
    );
  });

  test('is named with its own line when it is broken JSON or no schema', async () => {
    const folder = tempFolder();
    const fields = { output: { schema: 'out.json' } };
    const broken = await refusal({ folder, files: { ...files(fields), 'out.json': '{\n "type": }' } });
    expect(broken).toMatch(/^out\.json:2:10: broken JSON.*named by task\.json:1:\d+ \(\/output\/schema\)\)$/);
    const wrong = await refusal({ folder, files: { 'out.json': '{\n "type": "objekt" }' } });
    expect(wrong).toMatch(/^out\.json:2:\d+ .*does not compile.*named by task\.json/);
  });

  test('never shows a key that was pasted into the wrong field', async () => {
    const key = 'sk-ant-api03-abcdefghijklmnop';
    const fields = { model: { id: 'm', api_key_env: key, api_key: key }, system: 1, limits: { timeout: key } };
    const message = await refusal({ folder: tempFolder(), files: files(fields) });
    expect(message).toContain('/model/api_key_env');
    expect(message).not.toContain('abcdefghijklmnop');
  });
});
