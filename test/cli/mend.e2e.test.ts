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
    ['task.json (/verify/0/run/0): found the program "no-such-program"', 'install it, or name its path'],
  ],
  [
    "an own tool's program that is not there",
    {
      prompt: 'x',
      model: script,
      custom_tools: [{ name: 'lint', description: 'd', input_schema: { type: 'object' }, command: ['no-such-linter'] }],
    },
    ['task.json (/custom_tools/0/command/0): found the program "no-such-linter"'],
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
});
