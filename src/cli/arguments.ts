// argv -> what is asked. The plain cases are read by node:util; help, commands and mistakes load yargs.

import { parseArgs } from 'node:util';
import { OPTIONS } from '../config/options.ts';
import { UsageError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { ALL_OPTIONS, COMMAND_NAMES, COMMANDS, isCommand } from './commands.ts';
import type { Invocation, Parsed } from './invocation.ts';

/** Reads the command line; throws UsageError for unknown commands and options, naming the nearest. */
export async function parseCommandLine(argv: readonly string[]): Promise<Parsed> {
  const plain = parsePlain(argv);
  if (plain) return { kind: 'invocation', invocation: plain };
  refuseUnknownOptions(argv);
  const { parseWithYargs } = await import('./yargs-parser.ts');
  const end = argv[0] === 'explain' ? argv.indexOf('--') : -1;
  if (end < 0) return parseWithYargs(argv);
  const parsed = await parseWithYargs(argv.slice(0, end));
  if (parsed.kind === 'text') return parsed;
  return { kind: 'invocation', invocation: { ...parsed.invocation, rest: argv.slice(end + 1) } };
}

/** `TASK [options]`, alone or behind `run`; undefined for everything else. */
export function parsePlain(argv: readonly string[]): Invocation | undefined {
  const rest = argv[0] === 'run' ? argv.slice(1) : argv;
  if (rest === argv && isCommand(rest[0])) return undefined;
  try {
    const parsed = parseArgs({ args: [...rest], options: PLAIN_OPTIONS, allowPositionals: true, strict: true });
    const { values: flags, positionals } = parsed;
    return positionals.length === 1 ? { command: 'run', positionals, flags } : undefined;
  } catch {
    // parseArgs throws a TypeError for whatever is not plain; yargs says what is wrong with it.
    return undefined;
  }
}

type PlainOption = { type: 'boolean' } | { type: 'string'; multiple: true };

// Texts may repeat here so that the message of a repetition can show both values.
const PLAIN_OPTIONS: Record<string, PlainOption> = Object.fromEntries(
  Object.entries(OPTIONS).map(([name, { kind }]): [string, PlainOption] => [
    name,
    kind === 'switch' ? { type: 'boolean' } : { type: 'string', multiple: true },
  ]),
);

/** yargs lists unknown options without the name that was meant. */
function refuseUnknownOptions(argv: readonly string[]): void {
  const [command] = argv;
  const known = optionNames(command);
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') return;
    if (!/^-[^\d.]/.test(word)) continue;
    const [name = ''] = word.replace(/^--?/, '').split('=', 1);
    if (!word.startsWith('--') ? word !== '-h' : !known.includes(name)) throw unknownOption(word, known, command);
    const spec = ALL_OPTIONS[name];
    if (spec && spec.kind !== 'switch' && !word.includes('=')) index += 1; // its value, whatever it looks like
  }
}

function optionNames(command: string | undefined): string[] {
  const own = COMMANDS[isCommand(command) ? command : 'run'].options;
  return [...own, 'help', 'version'];
}

function unknownOption(word: string, known: readonly string[], command: string | undefined): UsageError {
  const [name = ''] = word.split('=', 1);
  const list = known.map((item) => `--${item}`);
  const where = isCommand(command) ? ` of "${command}"` : '';
  return new UsageError(`unknown option ${name}${where}${didYouMean(name, list)}; agent-run --help lists all`);
}

/** Says so when a task that cannot be read looks like a command that was meant. */
export function commandHint(task: string): string {
  return didYouMean(task, COMMAND_NAMES);
}
