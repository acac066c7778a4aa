import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { calls, tell } from './harness.ts';
import type { Story, Told } from './harness.ts';

const SECRET = 'kW4-very"secret\\value-77';

/** Every byte a run left behind, and what it would print. */
function everything(told: Told): string {
  const files = readdirSync(told.run_dir, { recursive: true, encoding: 'utf8' }).map((name) =>
    join(told.run_dir, name),
  );
  const texts = files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file, 'utf8'));
  return [...texts, JSON.stringify(told.result), told.output_text ?? '', told.message].join('\n');
}

function leaks(told: Told): string[] {
  const spellings = [
    SECRET,
    JSON.stringify(SECRET).slice(1, -1),
    encodeURIComponent(SECRET),
    Buffer.from(SECRET).toString('base64'),
    Buffer.from(SECRET).toString('hex'),
  ];
  const all = everything(told);
  return spellings.filter((spelling) => all.includes(spelling));
}

const env = { MY_TOKEN: SECRET };

const WAYS: [way: string, story: Story][] = [
  ['an input', { task: { inputs: { x: { default: SECRET } }, prompt: 'Say {{ inputs.x }}' }, turns: [{ text: 'ok' }] }],
  ['the prompt and the system text', { task: { prompt: `Use ${SECRET}`, system: SECRET }, turns: [{ text: 'ok' }] }],
  [
    'a file that is read',
    {
      files: { 'a.txt': SECRET },
      task: { tools: { read_file: {} } },
      turns: [calls(['read_file', { path: 'a.txt' }]), { text: 'ok' }],
    },
  ],
  [
    'a context file',
    { files: { 'a.txt': SECRET }, task: { context: [{ files: ['a.txt'] }] }, turns: [{ text: 'ok' }] },
  ],
  ['what the model says', { turns: [{ text: `It is ${SECRET}`, thinking: SECRET }] }],
  [
    'what the model writes',
    {
      task: { tools: { write_file: {} } },
      turns: [calls(['write_file', { path: 'b.txt', file_text: SECRET }]), { text: 'ok' }],
    },
  ],
  [
    'the output',
    { task: { output: { schema: { type: 'object' } } }, turns: [{ text: JSON.stringify({ key: SECRET }) }] },
  ],
  [
    'a verify command',
    {
      files: { 'a.txt': SECRET },
      task: { verify: [{ run: ['cat', 'a.txt', 'missing'], attempts: 1 }] },
      turns: [{ text: 'ok' }],
    },
  ],
  [
    'an error of the service',
    { turns: [{ error: { status: 400, type: 'invalid_request_error', message: `bad key ${SECRET}` } }] },
  ],
  [
    'a changed file',
    {
      files: { 'a.txt': 'x' },
      task: { tools: { edit_file: {} } },
      turns: [calls(['edit_file', { path: 'a.txt', old_str: 'x', new_str: SECRET }]), { text: 'ok' }],
    },
  ],
];

describe('a secret of the environment does not stand in any artifact when it comes by', () => {
  test.each(WAYS)('%s', async (_way, story) => {
    expect(leaks(await tell({ ...story, env }))).toEqual([]);
  });

  test('a variable that only the task names as its key', async () => {
    const model = {
      provider: 'anthropic',
      id: 'claude-sonnet-5-5',
      api_key_env: 'CORPORATE_PASS_PHRASE_X',
      base_url: 'http://127.0.0.1:9',
    };
    const story = {
      task: { prompt: SECRET, limits: { max_retries: 0 } },
      model,
      env: { CORPORATE_PASS_PHRASE_X: SECRET },
    };
    expect(leaks(await tell(story))).toEqual([]);
  });
});
