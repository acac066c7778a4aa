// What the last line of a refused start tells people to do, for mistakes that looking at the task again would not mend.
import { describe, expect, test } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { tempTree } from '../helpers/temp.ts';

const cli = useCli();
const script = { provider: 'script', script: { turns: [{ text: 'done' }] } };

const CASES: [what: string, task: object, parts: string[]][] = [
  [
    'a missing input',
    { inputs: { base: { required: true } }, prompt: 'Since {{ inputs.base }}.', model: 'claude-sonnet-5-5' },
    ['found no value for the required input "base"', 'next: agent-run task.json --input base=VALUE'],
  ],
  [
    'a missing key',
    { prompt: 'x', model: 'claude-sonnet-5-5' },
    ['no credentials for claude-sonnet-5-5', 'next: set ANTHROPIC_API_KEY, then agent-run task.json'],
  ],
  [
    'a missing key that the task names',
    { prompt: 'x', model: { provider: 'openai', id: 'q', base_url: 'http://127.0.0.1:9', api_key_env: 'MY_KEY' } },
    ['MY_KEY, named in model.api_key_env, is not set', 'next: set MY_KEY, then agent-run task.json'],
  ],
  [
    'a name with a space',
    { name: 'a b', prompt: 'x', model: script },
    ['task.json:1:9 (/name): found "a b", expected letters, digits, dots, dashes and underscores'],
  ],
  [
    'a rule that is none',
    { prompt: 'x', model: script, tools: { bash: { allow: ['npm test', 'a; b'] } } },
    ['(/tools/bash/allow/1): tools.bash.allow[1]: ', 'task.json:1:'],
  ],
  [
    'a path rule that leaves the workspace',
    { prompt: 'x', model: script, tools: { read_file: { paths: ['../x'] } } },
    ['(/tools/read_file/paths): tools.read_file.paths: ', 'task.json:1:'],
  ],
  [
    'a model of another provider without its name',
    { prompt: 'x', model: 'gpt-5' },
    ['no credentials for gpt-5', 'a model of another provider is written PROVIDER/ID: "openai/gpt-5"'],
  ],
  [
    'a cost limit without a price',
    {
      prompt: 'x',
      model: { provider: 'openai', id: 'q', base_url: 'http://127.0.0.1:9' },
      limits: { max_cost_usd: 1 },
    },
    [
      'task.json: a cost limit of 1 USD is given (limits.max_cost_usd, --max-cost-usd or AGENT_RUN_MAX_COST_USD)',
      'next: add model.prices to task.json or drop the cost limit, then agent-run task.json',
    ],
  ],
  [
    'a verify command whose program is not there',
    { prompt: 'x', model: script, verify: [{ run: ['no-such-program', '-q'] }] },
    ['(/verify/0/run/0): found the program "no-such-program"', 'install it, or name its path'],
  ],
  [
    "an own tool's program that is not there",
    {
      prompt: 'x',
      model: script,
      custom_tools: [{ name: 'lint', description: 'd', input_schema: { type: 'object' }, command: ['no-such-linter'] }],
    },
    ['/custom_tools/0/command/0): found the program "no-such-linter"'],
  ],
];

describe('a start that is refused says what mends it', () => {
  test.each(CASES)('%s', async (_what, task, parts) => {
    const cwd = tempTree({ 'task.json': JSON.stringify(task) });
    const { code, stderr } = await cli.run(['task.json'], { cwd });
    expect(code).toBe(2);
    for (const part of parts) expect(stderr).toContain(part);
  });

  test('validate names the check to repeat once the file is mended', async () => {
    const cwd = tempTree({ 'task.json': '{ "promt": "x" }' });
    const { code, stderr } = await cli.run(['validate', 'task.json'], { cwd });
    expect({ code, next: stderr.trimEnd().split('| next: ')[1] }).toEqual({
      code: 2,
      next: 'agent-run validate task.json',
    });
  });

  test('validate wonders about a model that no table knows', async () => {
    const cwd = tempTree({ 'task.json': '{ "prompt": "x", "model": "claude-sonet-5-5" }' });
    const { code, stdout } = await cli.run(['validate', 'task.json'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain('the model "claude-sonet-5-5" is not in the table of known models');
    expect(stdout).toContain('did you mean "claude-sonnet-5-5"?');
  });

  test('a variable that is nearly an option is told, for it limits nothing', async () => {
    const cwd = tempTree({ 'task.json': JSON.stringify({ prompt: 'x', model: script }) });
    const { code, stderr } = await cli.run(['task.json'], {
      cwd,
      env: { AGENT_RUN_MAX_COST: '1', AGENT_RUN_OTHER_TOOL: '1' },
    });
    expect(code).toBe(0);
    expect(stderr).toContain(
      'warning: the variable AGENT_RUN_MAX_COST is no option and changes nothing; did you mean "AGENT_RUN_MAX_COST_USD"?',
    );
    expect(stderr).not.toContain('AGENT_RUN_OTHER_TOOL');
  });

  test('a command that is spelt wrong runs none of the tasks behind it', async () => {
    const cwd = tempTree({ 'task.json': JSON.stringify({ prompt: 'x', model: script }) });
    const { code, stderr } = await cli.run(['validat', 'task.json'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('found "validat", which is neither a task file nor a command; did you mean "validate"?');
  });

  test('a suggested command keeps the options that were typed', async () => {
    const cwd = tempTree({ 'task.json': '{ "prompt": "x", "model": "claude-sonnet-5-5" }' });
    const { stderr } = await cli.run(['task.json', '--max-cost-usd', '0.5', '--quiet'], { cwd });
    expect(stderr).toContain('next: set ANTHROPIC_API_KEY, then agent-run task.json --max-cost-usd 0.5 --quiet');
  });
});
