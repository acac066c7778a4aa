import { describe, expect, test } from 'vitest';
import { parseCommandLine, parsePlain } from '../../src/cli/arguments.ts';
import type { Invocation } from '../../src/cli/invocation.ts';
import { COMMAND_NAMES } from '../../src/cli/commands.ts';
import { parseWithYargs } from '../../src/cli/yargs-parser.ts';
import { UsageError } from '../../src/core/errors.ts';

async function invocation(...argv: string[]): Promise<Invocation> {
  const parsed = await parseCommandLine(argv);
  if (parsed.kind === 'text') throw new Error(parsed.text);
  return parsed.invocation;
}

async function refusal(...argv: string[]): Promise<string> {
  const error: unknown = await parseCommandLine(argv).catch((reason: unknown) => reason);
  return error instanceof UsageError ? error.message : `no UsageError: ${JSON.stringify(error)}`;
}

describe('a command line', () => {
  test.each([
    [['task.json']],
    [['task.json', '--quiet', '--untrusted']],
    [['--out', 'd', 'task.json', '--input', 'a=b', '--input=c=--d']],
    [['-', '--format', 'json', '--timeout=90s', '--max-turns', '3']],
  ])('is read alike by the fast path and by yargs: %j', async (argv) => {
    const plain = parsePlain(argv);
    const full = await parseWithYargs(argv);
    if (!plain || full.kind !== 'invocation') throw new Error('expected an invocation of both');
    const flat = ({ flags, ...rest }: Invocation): object => ({
      ...rest,
      flags: Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, [value].flat()])),
    });
    expect(flat(full.invocation)).toEqual(flat(plain));
  });

  test('runs one task with or without the word run', async () => {
    expect(await invocation('run', 'a.json')).toEqual(await invocation('a.json'));
    expect(await invocation('./run')).toMatchObject({ command: 'run', positionals: ['./run'] });
  });

  test('names several tasks for run and validate', async () => {
    expect(await invocation('run', 'a', 'b')).toMatchObject({ command: 'run', positionals: ['a', 'b'] });
    expect(await invocation('validate', 'a', 'b')).toMatchObject({ command: 'validate', positionals: ['a', 'b'] });
  });

  test('takes a dash after -- as a file, and refuses what nobody reads', async () => {
    expect(await invocation('--', '-task.json')).toMatchObject({ positionals: ['-task.json'] });
    expect(await refusal('a.json', '--', 'b.json')).toContain('"b.json"');
    expect(await refusal('init', 'a', 'b')).toContain('Unknown argument: b');
  });

  test.each([
    [
      ['t.json', '--max-turn', '4'],
      ['unknown option --max-turn', 'did you mean "--max-turns"?'],
    ],
    [['t.json', '--maxTurns=4'], ['did you mean "--max-turns"?']],
    [['t.json', '--no-untrusted'], ['unknown option --no-untrusted']],
    [['t.json', '-q'], ['unknown option -q']],
    [['t.json', '--out'], ['Not enough arguments following: out']],
    [['t.json', '--max-turns', '--out', 'd'], ['Not enough arguments following: max-turns']],
    [['init', '--out', 'd'], ['unknown option --out of "init"']],
    [['diff', 'a', 'b', '--merge'], ['unknown option --merge of "diff"']],
    [['report', 'a', '--max-turns', '3'], ['unknown option --max-turns of "report"']],
  ])('is refused with the nearest name: %j', async (argv, parts) => {
    const message = await refusal(...argv);
    for (const part of parts) expect(message).toContain(part);
  });

  test('asks for help with every command listed and every line within 110 columns', async () => {
    const help = await parseCommandLine(['--help']);
    const text = help.kind === 'text' ? help.text : '';
    for (const name of COMMAND_NAMES) expect(text).toContain(`agent-run ${name}`);
    expect(text).toContain('AGENT_RUN_<OPTION>');
    expect(text.split('\n').filter((line) => line.length > 110)).toEqual([]);
    const version = await parseCommandLine(['--version']);
    expect(version).toMatchObject({ kind: 'text', text: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as unknown });
  });
});
