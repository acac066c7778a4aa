import { describe, expect, test } from 'vitest';
import type { CustomToolConfig } from '../../src/core/config.ts';
import { UsageError } from '../../src/core/errors.ts';
import type { Plan, ToolContext } from '../../src/core/ports.ts';
import { createCustomTools } from '../../src/tools/custom.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { exec } from '../../src/workspace/exec.ts';
import { plainBoundary } from '../policy/case-fixture.ts';
import { call, textOf, toolContext, workspace } from './tool-context.ts';

const SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    file: { type: 'string', pattern: String.raw`^[\w./-]+$` },
    pair: { type: 'array', items: [{ type: 'number' }, { type: 'string' }], additionalItems: false },
  },
  required: ['file'],
  additionalProperties: false,
};

function lint(changes: Partial<CustomToolConfig> = {}): CustomToolConfig {
  return {
    name: 'lint',
    description: 'Lints one file.',
    input_schema: SCHEMA,
    command: ['lint', '{{ file }}'],
    effect: 'write',
    ok_exit_codes: [0],
    max_output_bytes: 30_000,
    on_denied: 'continue',
    ...changes,
  };
}

async function made(config = lint()) {
  const { root } = await workspace({ 'a.txt': 'hello\n' });
  return createCustomTools([config], { exec, boundary: plainBoundary(root), cwd: root });
}

interface Running extends Partial<CustomToolConfig> {
  stdin?: string;
  context?: Partial<ToolContext>;
}

/** Runs an argument list as the plan of a call whose own input says something else. */
async function run(argv: string[], { stdin, context = {}, ...config }: Running = {}) {
  const { tools } = await made(lint(config));
  const [tool] = tools;
  if (!tool) throw new Error('no tool was made');
  const plan: Plan = { kind: 'argv', effect: 'write', argv, ...(stdin !== undefined && { stdin }) };
  const { context: full, stored } = toolContext(context);
  const output = await call(tool, { file: 'not this' }, plan, full);
  return { ...output, text: textOf(output), stored };
}

describe('a custom tool', () => {
  test('runs the plan in the workspace, without a shell and without input', async () => {
    expect(await run(['cat', 'a.txt'])).toMatchObject({ status: 'ok', text: 'hello' });
    expect(await run(['printf', '%s|', '$(id)', '*', 'a\'b"\n'])).toMatchObject({ text: `$(id)|*|a'b"\n|` });
    expect(await run(['cat'])).toMatchObject({ status: 'ok', text: '(no output)' });
  });

  test('gives the input of the plan, whole and as it is', async () => {
    const stdin = `${'$(x) `y` "ü😀"\n'.repeat(20_000)}-`;
    expect((await run(['cat'], { stdin, max_output_bytes: 1, context: { max_output_bytes: 1e6 } })).text).toBe(stdin);
    expect(await run(['cat'], { stdin: '' })).toMatchObject({ text: '(no output)' });
  });

  test.each<[number, number[], string, string]>([
    [0, [0], 'ok', '(no output)'],
    [1, [0], 'error', '[exit code 1]'],
    [1, [0, 1], 'ok', '[exit code 1]'],
    [2, [0, 1], 'error', '[exit code 2]'],
    [0, [3], 'error', '[exit code 0]'],
    [3, [3], 'ok', '[exit code 3]'],
  ])('that ends with %i where %j are good is %s', async (code, ok_exit_codes, status, text) => {
    expect(await run(['sh', '-c', `exit ${code}`], { ok_exit_codes })).toMatchObject({ status, text });
  });

  test('that is killed is an error whatever codes are good', async () => {
    const ended = await run(['sh', '-c', 'kill -9 $$'], { ok_exit_codes: [0, 9, 137] });
    expect(ended).toMatchObject({ status: 'error', text: '[ended by a signal: SIGKILL]' });
  });

  test('ends in time, is cut, stored and redacted like any other', async () => {
    const late = await run(['sh', '-c', 'echo begun; sleep 30'], { context: { timeout_ms: 300 } });
    expect(late).toMatchObject({ status: 'timed_out', text: expect.stringMatching(/^begun\n\[timed out/) });
    const long = await run(['seq', '1', '9999'], { context: { max_output_bytes: 500 } });
    expect(long.text).toContain('[read_file run:outputs/1.txt pages the whole]');
    expect(long.stored('outputs/1.txt')).toHaveLength(48_888);
    const redact = (text: string) => text.replaceAll('s3cret', '***');
    expect((await run(['echo', 'a s3cret'], { context: { redact } })).text).toBe('a ***');
  });

  test('says when its program is missing', async () => {
    const missing = await run(['no-such-program-here', 'x']);
    expect(missing).toMatchObject({
      status: 'error',
      text: expect.stringContaining('no-such-program-here: command not'),
    });
  });

  test('that an argument is too long for says so', async () => {
    const result = await run(['echo', 'x'.repeat(3_000_000)]);
    expect(result).toMatchObject({ status: 'error', text: expect.stringContaining('use stdin or a file') });
  });
});

describe('the input of a custom tool', () => {
  test.each([
    ['{"file":"src/a.ts"}', true, ''],
    ['{}', false, 'file'],
    ['{"file":1}', false, '/file'],
    ['{"file":"a b"}', false, '/file'],
    ['{"file":"a","fil":"b"}', false, 'fil'],
    ['{"file":"a","__proto__":{"x":1}}', false, '__proto__'],
    [String.raw`{"file":"a\u0000b"}`, false, 'NUL'],
    ['{"file":"a","file":"b"}', false, 'twice'],
    ['["a"]', false, 'not a JSON object'],
  ])('%s is checked by its schema', async (text, ok, error) => {
    const { tools, checkers } = await made();
    const parsed = createRegistry(tools, checkers).parse('lint', text);
    expect(parsed.ok).toBe(ok);
    expect(parsed.ok ? '' : parsed.error).toContain(error);
  });

  test('is offered in the words of the current draft', async () => {
    const { tools } = await made();
    const [tool] = tools;
    expect(tool?.definition).toMatchObject({ name: 'lint', description: 'Lints one file.' });
    expect(tool?.definition.input_schema).not.toHaveProperty('$schema');
    expect(tool?.definition.input_schema).toMatchObject({
      properties: { pair: { prefixItems: [{ type: 'number' }, { type: 'string' }], items: false } },
    });
  });

  test('cannot be checked by a schema that does not compile, and that is the task’s mistake', async () => {
    const broken = made(lint({ input_schema: { type: 'object', properties: { a: { type: 'text' } } } }));
    await expect(broken).rejects.toThrow(UsageError);
    await expect(broken).rejects.toThrow(/input_schema of "lint" does not compile: \/properties\/a\/type/);
  });
});
