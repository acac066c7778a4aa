import { describe, expect, test } from 'vitest';
import { tempFolder } from '../helpers/temp.ts';
import { refusal } from './loading.ts';

const task = (fields: object): string => JSON.stringify({ prompt: 'x', model: 'm', ...fields }, null, 1);

/** What is wrong, the task file, and what the one message says. */
type Row = [what: string, text: string, parts: string[]];

const SYNTAX: Row[] = [
  ['an empty file', '  \n', ['task.json: the file is empty']],
  ['a missing comma', '{\n "prompt": "x"\n "model": "m" }', ['task.json:3:2', 'found "model"', 'expected ","']],
  ['single quotes', "{ 'prompt': 1 }", ['task.json:1:3', 'found "\'"']],
  ['a text without its end', '{ "prompt": "x\n}', ['task.json:1:13', 'expected the closing double quote']],
  ['a file that stops', '{ "prompt": "x", ', ['task.json:1:', 'found the end of the file']],
  ['text after the end', '{ "prompt": "x", "model": "m" } x', ['task.json:1:33', 'found "x"']],
  ['a broken escape', '{ "prompt": "\\x", "model": "m" }', ['task.json:1:', 'expected a JSON escape']],
  ['a duplicate key', '{ "prompt": "x",\n  "prompt": "y", "model": "m" }', ['task.json:2:3', '"prompt" stands twice']],
  [
    'a duplicate key spelt otherwise',
    '{ "prompt": "x", "pr\\u006fmpt": "y", "model": "m" }',
    ['task.json:1:18', 'twice'],
  ],
  [
    'a prototype key',
    '{ "prompt": "x", "model": "m", "__proto__": {} }',
    ['task.json:1:32', '"__proto__" is not allowed'],
  ],
  ['a list', '[]', ['task.json:1:1', 'found []', 'expected an object']],
  ['a hundred thousand open lists', '['.repeat(100_000), ['task.json:1:101', 'nested too deeply']],
  ['a hundred thousand closed lists', '['.repeat(1e5) + ']'.repeat(1e5), ['task.json:1:101', 'nested too deeply']],
];

const YAML: Row[] = [
  ['a line that is no pair', 'prompt: x\nmodel: m\nrest\n', ['task.yaml:3:', 'broken YAML']],
  ['a duplicate key', 'prompt: x\nprompt: y\nmodel: m\n', ['task.yaml:2:1', 'unique']],
  ['an unknown tag', 'prompt: !!js x\nmodel: m\n', ['task.yaml:1:9', '!!js']],
  ['two documents', 'prompt: x\n---\nmodel: m\n', ['task.yaml:2:', 'broken YAML']],
  [
    'an unknown key in a block',
    'prompt: x\nmodel:\n  id: m\n  efort: low\n',
    ['task.yaml:4:3', 'did you mean "effort"?'],
  ],
  ['a value behind an alias', 'prompt: x\nmodel: m\nlimits: &l\n  max_turns: ten\n', ['task.yaml:4:14', 'found "ten"']],
  ['a number that is not finite', 'prompt: x\nmodel: m\nlimits:\n  max_turns: .inf\n', ['task.yaml:4:14', 'Infinity']],
  ['absurd flow nesting', '['.repeat(100_000), ['task.yaml:1:1', 'nested too deeply']],
  ['absurd block nesting', '- '.repeat(100_000), ['task.yaml:1:1', 'nested too deeply']],
  ['aliases that multiply', bomb(), ['task.yaml', 'alias']],
  ['a prototype key', 'prompt: x\nmodel: m\n__proto__: {}\n', ['task.yaml:3:1', '__proto__']],
];

const FIELDS: Row[] = [
  [
    'an unknown key',
    task({ promts: 'x' }),
    ['task.json:4:2 (/promts)', 'unknown key "promts"', 'did you mean "prompts"?'],
  ],
  ['a misspelt required key', '{ "promt": "x", "model": "m" }', ['task.json:1:3', 'did you mean "prompt"?']],
  ['a missing model', '{ "prompt": "x" }', ['task.json:1:1', '"model" is missing', 'found only "prompt"']],
  [
    'a wrong type',
    task({ limits: { max_turns: 'ten' } }),
    ['task.json:5:16', 'found "ten"', 'expected a whole number'],
  ],
  ['a fraction of a turn', task({ limits: { max_turns: 1.5 } }), ['found 1.5', 'expected a whole number']],
  ['no turns', task({ limits: { max_turns: 0 } }), ['found 0', 'expected a number of at least 1']],
  [
    'a limit that is not finite',
    '{ "prompt": "x", "model": "m", "limits": { "max_total_tokens": 1e999 } }',
    ['task.json:1:64', 'found Infinity'],
  ],
  ['a negative cost limit', task({ limits: { max_cost_usd: -1 } }), ['found -1', 'expected a number above 0']],
  ['a number for a duration', task({ limits: { timeout: 90 } }), ['found 90', 'expected a text']],
  ['a duration without a unit', task({ limits: { timeout: '90' } }), ['found "90"', 'a number with a unit', '"500ms"']],
  [
    'a duration beyond the timer',
    task({ limits: { timeout: '2147483648ms' } }),
    ['found "2147483648ms"', 'at most 2147483647ms'],
  ],
  [
    'a tool timeout beyond the timer',
    task({ tools: { grep: { timeout: '600h' } } }),
    ['task.json:6:15', 'found "600h"'],
  ],
  ['a size of nothing', task({ tools: { grep: { max_output: '0B' } } }), ['found "0B"', 'at least 1B']],
  ['an unknown word', task({ limits: { on_limit: 'finalise' } }), ['found "finalise"', 'did you mean "finalize"?']],
  [
    'an unknown provider',
    task({ model: { provider: 'anthropc', id: 'm' } }),
    ['task.json:4:15', 'did you mean "anthropic"?'],
  ],
  [
    'an unknown provider in one word',
    task({ model: 'opnai/x' }),
    ['task.json:3:11', 'unknown model provider "opnai"', '"openai"?'],
  ],
  ['a script without turns', task({ model: { provider: 'script' } }), ['(/model)', '"script" is missing']],
  ['a script for another provider', task({ model: { id: 'm', script: 'x' } }), ['(/model/script)', 'not allowed here']],
  [
    'an unknown key in a turn',
    task({ model: { provider: 'script', script: { turns: [{ txt: 'x' }] } } }),
    ['did you mean "text"?'],
  ],
  ['an unknown tool', task({ tools: { red_file: {} } }), ['unknown key "red_file"', 'did you mean "read_file"?']],
  ['a shell without rules', task({ tools: { bash: {} } }), ['(/tools/bash)', '"allow" is missing']],
  ['a shell that may do all', task({ tools: { bash: true } }), ['found true', '{"allow":']],
  ['a tool that is false', task({ tools: { grep: false } }), ['found false', 'expected true']],
  [
    'a context of two kinds',
    task({ context: [{ git: 'diff', files: ['a'] }] }),
    ['found "git" and "files"', 'exactly one of'],
  ],
  ['a context of no kind', task({ context: [{}] }), ['found none of them', '"command"']],
  ['a context with a misspelt kind', task({ context: [{ fils: ['a'] }] }), ['did you mean "files"?']],
  [
    'a base without git',
    task({ context: [{ files: ['a'], base: 'x' }] }),
    ['found "base" alone', 'expected "git" beside it'],
  ],
  [
    'a context of an unknown input',
    task({ inputs: { ticket: {} }, context: [{ input: 'tickt' }] }),
    ['did you mean "ticket"?'],
  ],
  ['a gate without a schema', task({ output: { gate: {} } }), ['found "gate" alone', 'expected "schema"']],
  [
    'a schema that does not compile',
    task({ output: { schema: { type: 'objekt' } } }),
    ['task.json:6:', 'does not compile'],
  ],
  ['a missing prompt file', task({ prompt: { file: 'promt.md' } }), ['task.json:3:11 (/prompt/file)', 'no such file']],
  ['a prompt file that is a folder', task({ prompt: { file: '.' } }), ['it is a folder']],
  [
    'an input that is required',
    task({ inputs: { ticket: { required: true } } }),
    ['(/inputs/ticket)', '--input ticket=VALUE'],
  ],
  ['an input name nobody can give', task({ inputs: { 'a b': {} } }), ['found the key "a b"']],
  [
    'a default against its own list',
    task({ inputs: { a: { default: 'x', enum: ['y'] } } }),
    ['(/inputs/a/default)', 'found "x"'],
  ],
  ['a pattern that is none', task({ inputs: { a: { pattern: '(' } } }), ['expected a regular expression']],
  ['a name that no folder can have', task({ name: '../x' }), ['found "../x"']],
  ['an unknown format version', task({ version: 2 }), ['found 2, expected 1']],
  ['a template where none is read', task({ model: '{{ inputs.m }}' }), ['task.json:3:11', 'without templates']],
  ['a prompt of nothing', task({ prompt: '{{ inputs.a }}', inputs: { a: {} } }), ['a prompt without any text']],
  ['an environment reference', task({ prompt: '{{ env.X }}' }), ['"env.X" does not exist', 'inputs.NAME']],
  ['a tag that reads files', task({ system: "{% include 'x' %}" }), ['(/system)', 'include', 'line 1, column 1']],
];

function bomb(): string {
  const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
  for (let index = 1; index < 9; index += 1) {
    const [name, before] = [String.fromCharCode(97 + index), String.fromCharCode(96 + index)];
    lines.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`);
  }
  return lines.join('\n');
}

async function refused(file: string, text: string): Promise<{ message: string; ms: number }> {
  const started = Date.now();
  const message = await refusal({ folder: tempFolder(), files: { [file]: text }, file });
  return { message, ms: Date.now() - started };
}

describe('a broken JSON task names the place, the value and what was expected', () => {
  test.each(SYNTAX)('%s', async (_what, text, parts) => {
    const { message, ms } = await refused('task.json', text);
    for (const part of parts) expect(message).toContain(part);
    expect(message).not.toMatch(/\n\s+at /); // no stack
    expect(ms).toBeLessThan(2000);
  });
});

describe('a broken YAML task does so too', () => {
  test.each(YAML)('%s', async (_what, text, parts) => {
    const { message, ms } = await refused('task.yaml', text);
    for (const part of parts) expect(message).toContain(part);
    expect(message).not.toMatch(/\n\s+at /); // no stack
    expect(ms).toBeLessThan(2000);
  });
});

describe('a task with a wrong field', () => {
  test.each(FIELDS)('%s', async (_what, text, parts) => {
    const { message, ms } = await refused('task.json', text);
    for (const part of parts) expect(message).toContain(part);
    expect(message).not.toMatch(/\n\s+at /); // no stack
    expect(ms).toBeLessThan(2000);
  });
});
